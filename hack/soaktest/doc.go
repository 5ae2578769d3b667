// Package soaktest starts, enters, restarts, stops and removes containers through every door (hook and wrapper on runc and
// crun, Docker, Podman as root and as a user, NRI) while the processes that take part in it are killed at random points,
// the directories of records fill up and the policy changes and breaks; hack/soak runs it for a given time.
//
// Killed are hook, lifter, shim and guard, wrapper, NRI plugin, runc and crun; not the engines themselves. Storms of that
// take turns with calm, in which every door has to get a container through from beginning to end.
//
// Invariants, counted exactly:
//   - no process in a container ever saw a planted value that the policy takes away;
//   - no command on a container takes longer than its time limit, which is generous: nothing here depends on the machine's
//     speed;
//   - at the end no process, zombie, mount or file of ours is left.
//
// That a container fails to start in a storm is no fault here: its runtime may have been the one that was killed.
package soaktest
