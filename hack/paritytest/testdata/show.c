// Prints AGENT_KEY as its own environment has it.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
	const char *key = getenv("AGENT_KEY");
	puts(key ? key : "not there");
	return 0;
}
