package report

import "testing"

// TestPercentIsRoundedDown: a gate that fails must not print the limit.
func TestPercentIsRoundedDown(t *testing.T) {
	for p, want := range map[float64]string{0: "0.00", 100: "100.00", 89.999: "89.99", 89.9999999999: "89.99", 90: "90.00", 0.001: "0.00", 28.999999999999996: "28.99", 99.994: "99.99"} {
		if got := Percent(p); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "plain name": "plain name", `a\b"c`: `a\b"c`, "gemäß": "gemäß",
		"\x1b[2J": `\x1b[2J`, "a\nb": `a\nb`, "\xff": `\xff`, "\u202eabc": `\u202eabc`, "\u009b1m": `\u009b1m`,
	} {
		if got := printable(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestDotString(t *testing.T) {
	if got, want := dotString("a\"b\\c\x01"), `a\\\"b\\\\c\\x01`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 functions", 1: "1 function", 2: "2 functions", 1000: "1,000 functions"} {
		if got := counted(n, "function"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
