// Package harden is the kernel side.
package harden
