package cli

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable escapes what a terminal would obey or not show: a name may come from
// a hostile image. Line ends count too, so that one name is one line.
func printable(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range escapeInvalid(s) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// escapeInvalid writes bytes that are not UTF-8 as \xNN.
func escapeInvalid(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + strconv.FormatUint(0x100+uint64(s[0]), 16)[1:])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// table writes rows in columns, the last one unpadded.
func table(w io.Writer, rows [][]string) error {
	var width []int
	for _, row := range rows {
		for i := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			row[i] = printable(row[i])
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), " \n", "\n"))
	return err
}
