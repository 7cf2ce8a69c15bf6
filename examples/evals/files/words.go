package text

import "strings"

// Words counts the words of a text, which white space separates.
func Words(text string) int {
	return len(strings.Fields(text))
}
