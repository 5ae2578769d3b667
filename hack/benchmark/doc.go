// Package benchmark measures what envscrub costs, on real runtimes and engines. hack/bench runs it in full; as a test it
// runs once with few rounds, which shows that every figure can be measured, and says nothing about time.
//
// Every figure compares variants in one run: each round runs all variants once, in random order, after rounds that do
// not count. What is quoted is the median with its quartiles, and the ratios, taken round by round, to the figure's base
// (without us) and to its floor: the least that anything in our place costs, a static C program or a Go program that
// does nothing. Beside them stand peers: what else there is. Absolute times belong to the machine that they were
// measured on; the ratios are the message.
//
// Package report says it all: Markdown, JSON, an SVG with how each cost grows, the README's table, and what changed since
// the run in landed.
package benchmark
