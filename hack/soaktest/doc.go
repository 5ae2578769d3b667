// Package soaktest starts, executes in, and removes containers through every door while everything that takes part in it
// is killed at random points, the state directory fills up and the policy breaks; hack/soak runs it for a given time.
//
// Invariants, counted exactly:
//   - no process in a container ever saw a planted value that the policy takes away;
//   - no container hangs over its time limit;
//   - at the end no process, mount, file or zombie of ours is left.
//
// That a container fails to start is no fault here: its runtime may have been the one that was killed.
package soaktest
