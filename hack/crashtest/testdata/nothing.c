/* The floor of every program: what starting one costs. */
int main(void) { return 0; }
