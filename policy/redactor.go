package policy

import "github.com/envscrub/envscrub/policy/redact"

// Redactor replaces known values in a stream.
type Redactor = redact.Redactor

// Redactor returns the redactor for the values that the policy's `secrets` name, and for more, in the forms that
// `redact.forms` asks for.
func (v *View) Redactor(more ...redact.Secret) *Redactor {
	values := make([]redact.Secret, 0, len(v.layer.known)+len(more))
	for _, s := range v.layer.known {
		values = append(values, redact.Secret{Name: s.source, Value: s.value})
	}
	return redact.New(append(values, more...), v.Redact.set())
}

func (r Redact) set() redact.Forms {
	var forms redact.Forms
	for _, name := range r.Forms {
		f, _ := redact.ParseForm(name) // the names were checked when the policy was read
		forms |= f
	}
	return forms
}
