// Package benchmark measures what envscrub costs, on real runtimes and engines; hack/bench runs it. It holds benchmarks
// only, and each of them measures once, whatever b.N is.
//
// Every figure compares variants in one run: each round runs all variants once, in random order, after rounds that do
// not count. What is quoted is the median with the quartiles beside it, and the difference and ratio of medians to the
// figure's base. Absolute times belong to the machine that they were measured on; the ratios are the message.
//
// Floors stand beside ours where they say what is possible at all: a static C program that does nothing, a Go program
// that does nothing.
package benchmark
