package order

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// From any environment block an order is taken out, or an error, and never left behind; what is not ours keeps its place.
func FuzzFromEnviron(f *testing.F) {
	f.Add("A=1\x00"+strings.Join(full().Environ(), "\x00")+"\x00B=2", "C=3")
	f.Add("ENVSCRUB_ORDER_1=envscrub=\x00ENVSCRUB_ORDER_3=x\x00envscrub_order=y\x00ENVSCRUB_", "")
	f.Add("=\x00\x00A", "GODEBUG=x")
	f.Fuzz(func(t *testing.T, block, set string) {
		env := strings.Split(block, "\x00")
		_, rest, err := FromEnviron(env)
		if want := slices.DeleteFunc(slices.Clone(env), IsControl); err == nil && !slices.Equal(rest, want) {
			t.Fatalf("%q is left, want %q", rest, want)
		}
		// Ours, put behind it, is the one that is found: doors take out what was there before.
		o := &Order{Set: []string{set}, Remove: env}
		got, again, err := FromEnviron(append(slices.DeleteFunc(slices.Clone(env), IsControl), o.Environ()...))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Set, o.Set) || !slices.Equal(got.Remove, o.Remove) || !slices.Equal(again, rest) && rest != nil {
			t.Fatalf("%+v became %+v, beside %q", o, got, again)
		}
	})
}
