// stand prints how a process stands: its group and session, and the terminal's
// foreground group. -w waits for its end of input afterwards.
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char byte;
	printf("leads session: %s, leads group: %s, foreground: %s\n", getsid(0) == getpid() ? "yes" : "no",
	       getpgrp() == getpid() ? "yes" : "no", tcgetpgrp(0) == getpgrp() ? "yes" : "no");
	fflush(stdout);
	while (argc > 1 && read(0, &byte, 1) > 0)
		;
	return 0;
}
