package harden

func guard(j *job) (int, *failure) {
	if err := limit(j.order); err != nil {
		return 0, err
	}
	return 0, cannotRun(j.args[0], execve(j.path, j.args, j.env))
}
