package policy

import "strings"

// A value of [set] may refer to the container: ${container.id} and ${annotation:KEY}. "$${" stands for "${".

const annotationPrefix = "annotation:"

// checkTemplate says what is wrong with a value of [set], or "".
func checkTemplate(text string) string {
	_, what := expand(text, nil)
	return what
}

// expand fills a value in for a container; without one it only checks. What the container does not have is an
// error: an empty value would be taken for the real one.
func expand(text string, s *Subject) (string, string) {
	if !strings.Contains(text, "${") {
		return text, ""
	}
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			return b.String(), ""
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1])
			b.WriteString("${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		text = text[i+2:]
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return "", "a ${ has no }; close it, or write $${ for the characters themselves"
		}
		name := text[:end]
		text = text[end+1:]
		key, isAnnotation := strings.CutPrefix(name, annotationPrefix)
		switch {
		case name == "container.id":
			if s != nil {
				if s.ContainerID == "" {
					return "", "refers to ${container.id}, and there is no container here"
				}
				b.WriteString(s.ContainerID)
			}
		case isAnnotation && key != "":
			if s != nil {
				value, ok := s.Annotations[key]
				if !ok {
					return "", "refers to an annotation that the container does not have; add the annotation or move the entry into a profile"
				}
				if strings.IndexByte(value, 0) >= 0 {
					return "", "refers to an annotation that holds a NUL character"
				}
				b.WriteString(value)
			}
		default:
			return "", "refers to something unknown; there are ${container.id} and ${annotation:KEY}"
		}
	}
}
