// Command nothing is the floor of every Go program: what starting one costs.
package main

func main() {}
