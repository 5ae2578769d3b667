package redact

// Forms says in which shapes besides its own a value is looked for.
type Forms uint16

// The forms. Each is a finite list of spellings worked out beforehand, so each has
// limits: a text in a spelling that is not on the list passes.
const (
	// Base64 is the standard alphabet, at each of the three places in a group of
	// three bytes at which a value may begin, so also within a longer text
	// ("user:password"). The characters at both ends that hold bits of the
	// neighbours too are only covered where the value is the last of the text.
	// Of text in lines the usual 64 and 76 columns are known, where the value
	// begins the text.
	Base64 Forms = 1 << iota
	// Base64URL is the same with the alphabet of URLs and file names.
	Base64URL
	// Percent is percent-encoding as RFC 3986, HTML forms (a space is +),
	// JavaScript's encodeURIComponent and encodeURI and Go's path escaping spell it, and
	// with every byte encoded; hexadecimal digits all upper or all lower.
	Percent
	// JSON is the inside of a JSON string as common encoders write it (slash, <, >, & and
	// what is not ASCII escaped or not), and of a JSON string inside a JSON string.
	JSON
	// Shell is the value quoted for a shell in the common ways: in single quotes (with
	// '\'' or '"'"'), in double quotes, with backslashes, as $'…'.
	Shell
	// Hex is hexadecimal digits, all upper or all lower, without separators; in
	// lines of 60 where the value begins the text (xxd -p).
	Hex
	// Lines is each line of a value of several lines by itself, without the blanks
	// around it. Lines that tell nothing are left out: see trivial.
	Lines
)

// AllForms is every form there is.
const AllForms = Base64 | Base64URL | Percent | JSON | Shell | Hex | Lines

var formNames = [...]struct {
	name string
	form Forms
}{
	{"base64", Base64},
	{"base64url", Base64URL},
	{"percent", Percent},
	{"json", JSON},
	{"shell", Shell},
	{"hex", Hex},
	{"lines", Lines},
}

// FormNames returns the names that ParseForm knows.
func FormNames() []string {
	var names []string
	for _, f := range formNames {
		names = append(names, f.name)
	}
	return append(names, "all", "none")
}

// ParseForm returns the form of that name; "all" and "none" are names too.
func ParseForm(name string) (Forms, bool) {
	for _, f := range formNames {
		if f.name == name {
			return f.form, true
		}
	}
	switch name {
	case "all":
		return AllForms, true
	case "none":
		return 0, true
	}
	return 0, false
}

// String returns the names of the forms, separated by commas.
func (f Forms) String() string {
	s := ""
	for _, n := range formNames {
		if f&n.form == 0 {
			continue
		}
		if s != "" {
			s += ","
		}
		s += n.name
	}
	if s == "" {
		return "none"
	}
	return s
}

// A collector gathers what is to be looked for.
type collector struct{ patterns [][]byte }

func (c *collector) add(p string) {
	if len(p) >= MinLength {
		c.patterns = append(c.patterns, []byte(p))
	}
}

// value adds v and the forms of it. A terminal ends lines with CR LF, so a value
// of several lines is looked for with either end of line whatever the forms.
func (c *collector) value(v string, forms Forms) {
	c.add(v)
	if lf := crlf.Replace(v); lf != v {
		c.add(lf)
	}
	if dos := lf.Replace(crlf.Replace(v)); dos != v {
		c.add(dos)
	}
	if forms&Base64 != 0 {
		c.base64(v, stdAlphabet)
	}
	if forms&Base64URL != 0 {
		c.base64(v, urlAlphabet)
	}
	if forms&Percent != 0 {
		c.percent(v)
	}
	if forms&JSON != 0 {
		c.json(v)
	}
	if forms&Shell != 0 {
		c.shell(v)
	}
	if forms&Hex != 0 {
		c.hex(v)
	}
	if forms&Lines != 0 {
		c.lines(v)
	}
}
