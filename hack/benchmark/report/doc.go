// Package report says what a run of the benchmarks measured: as Markdown, JSON and SVG, in the README's table, and beside
// the run that was landed before.
//
// Absolute times belong to the machine that they were measured on. What is compared between runs is therefore the ratio to
// the same run's floor ([Timing.Cost]), taken round by round, so that a machine that is slow for a minute is slow for both.
package report
