// Package securitytest holds .github/SECURITY.md to what is so: every row names tests that exist, and what it says does
// not hold is shown not to, so that a kernel, an engine or a change of ours that closes a hole is noticed.
package securitytest
