// Empty: lets the package declare functions without a body (go:linkname).
