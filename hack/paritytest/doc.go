// Package paritytest keeps PARITY.md honest: every row of it has a test that names it, and every
// test that names a row names one that is there. With -run-rows it runs, for each row, the tests that name it.
//
// It knows no row itself: what a row means is in the tests, beside the code that they test.
package paritytest
