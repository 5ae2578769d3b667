// tty prints how a process stands: its process, group and session, and the
// terminal's foreground group, as words.
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	printf("leads session: %s, leads group: %s, foreground: %s\n", getsid(0) == getpid() ? "yes" : "no",
	       getpgrp() == getpid() ? "yes" : "no", tcgetpgrp(0) == getpgrp() ? "yes" : "no");
	return 0;
}
