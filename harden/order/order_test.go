package order

import (
	"reflect"
	"strings"
	"testing"

	"github.com/envscrub/envscrub/policy/spawn"
)

func full() *Order {
	core := uint64(0)
	return &Order{
		Version:         Version,
		Remove:          []string{"GH_TOKEN", "npm_config_//registry/:_authToken", "a%b;c"},
		Set:             []string{"TZ=Europe/Vienna", "EMPTY=", "PEM=-----BEGIN\nx y\x00\xff;%41=\r\n"},
		AgentOnly:       []string{"OPENAI_API_KEY", "ключ"},
		Held:            []string{"GH_TOKEN=t 1"},
		Rules:           []spawn.Rule{{Command: "*/gh", Allow: []string{"GH_TOKEN", "GH_*"}}, {Command: "/usr/bin/{a,b}"}},
		Trust:           []string{"*/claude"},
		Dumpable:        Prefer,
		AllowVoid:       true,
		DropSysAdmin:    true,
		NoNewPrivileges: true,
		CoreLimit:       &core,
		Diagnostics:     []string{Dotnet, Node},
		Redact:          &Redact{Forms: []string{"base64"}, Values: []string{"s3cr;t value"}},
		Group:           true,
	}
}

func TestRoundTrip(t *testing.T) {
	for name, want := range map[string]*Order{"full": full(), "empty": {Version: Version}} {
		t.Run(name, func(t *testing.T) {
			text := want.Encode()
			for i := 0; i < len(text); i++ {
				if text[i] <= ' ' || text[i] >= 0x7f {
					t.Fatalf("byte %d is %#x", i, text[i])
				}
			}
			if !Complete([]byte(text)) {
				t.Error("a whole order is not complete")
			}
			got, err := Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestEveryCutIsRefused(t *testing.T) {
	text := full().Encode()
	for n := range text {
		if _, err := Decode(text[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes decode", n, len(text))
		}
		if Complete([]byte(text[:n])) {
			t.Fatalf("the first %d of %d bytes are complete", n, len(text))
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	v := "envscrub=" + Version + ";"
	for name, text := range map[string]string{
		"nothing":           "",
		"something else":    "hello",
		"another version":   "envscrub=0;end;",
		"unknown field":     v + "colour=red;end;",
		"no value":          v + "nnp;end;",
		"grant alone":       v + "grant=X;end;",
		"bad escape":        v + "set=%4;end;",
		"lower hex":         v + "set=%4a;end;",
		"bad core":          v + "core=-1;end;",
		"bad dumpable":      v + "dumpable=maybe;end;",
		"bad flag":          v + "nnp=yes;end;",
		"secret on its own": v + "secret=S3CRET;end;",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(text)
			if err == nil {
				t.Fatal("decodes")
			}
			if strings.Contains(err.Error(), "S3CRET") {
				t.Fatalf("error shows a value: %v", err)
			}
		})
	}
}

func TestEnviron(t *testing.T) {
	small := &Order{Version: Version, AgentOnly: []string{"A"}}
	large := &Order{Version: Version}
	for range 3000 {
		large.Set = append(large.Set, "N="+strings.Repeat("v;", 50))
	}
	for name, want := range map[string]*Order{"one": small, "split": large} {
		t.Run(name, func(t *testing.T) {
			env := append([]string{"PATH=/bin", "envscrub_x=1", "A=B"}, want.Environ()...)
			for _, e := range env {
				if len(e) >= 128<<10 {
					t.Fatalf("a string of %d bytes", len(e))
				}
			}
			got, rest, err := FromEnviron(env)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Error("another order comes out")
			}
			if !reflect.DeepEqual(rest, []string{"PATH=/bin", "A=B"}) {
				t.Errorf("rest = %q", rest)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		o, rest, err := FromEnviron([]string{"A=B"})
		if o != nil || err != nil || len(rest) != 1 {
			t.Errorf("%v %q %v", o, rest, err)
		}
	})
	t.Run("a part lost", func(t *testing.T) {
		parts := large.Environ()
		if _, _, err := FromEnviron(append(parts[:1:1], parts[2:]...)); err == nil {
			t.Error("decodes")
		}
	})
}

func TestReady(t *testing.T) {
	for _, fd := range []int{0, 3, 1023, 1048575} {
		comm := Ready(fd)
		if len(comm) > 15 && fd < 1000000 {
			t.Errorf("%q does not fit a command name", comm)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(full().Encode())
	f.Add("envscrub=" + Version + ";end;")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := Decode(text)
		if err != nil {
			return
		}
		again, err := Decode(o.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(o, again) {
			t.Fatalf("%+v became %+v", o, again)
		}
	})
}

func FuzzSetSurvives(f *testing.F) {
	f.Add("A=b")
	f.Fuzz(func(t *testing.T, entry string) {
		o := Order{Set: []string{entry}}
		got, err := Decode(o.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if got.Set[0] != entry {
			t.Fatalf("%q", got.Set)
		}
	})
}
