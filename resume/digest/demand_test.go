package digest

import "testing"

func TestDemand(t *testing.T) {
	for text, want := range map[string]bool{
		"Never retry a 4xx.": true, "it never retries a 4xx": false, "Always log the id": true, "it always fails on Mondays": false, "Have it pull from the main branch always.": true, "Why does it fail always": false,
		"Do not touch the server": true, "please don't touch the server": true, "I don't know where it is": false, "Don't worry about the tests": false, "You must keep the order": true, "I must have missed that one": false, "it must be a bug": false, "the flag must be a list": true,
		"it must have been the cache": false, "Use a map instead of a list": true, "I got a list instead of a map": false, "it should not print that": true, "never mind, we'll look later": false, "Make sure it compiles": true,
		"Can you make sure that it compiles?": true, "Must it compile?": false, "should we always do that?": false, "I want it split into pages": true, "I want to know more of it": false, "We don't need the cache": true,
		"`never` is a keyword": false, "# Never do that": false, "never!": false, "Bitte nicht den Server anfassen": true, "不要修改服务器的代码": true, "Avoid globals where you can": true,
	} {
		if got := demand(sentences(text)[0]); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]bool{"no, in the other file please": true, "No": false, "no idea what that is": false, "no, is it the other one?": false, "nope the app doesn't work": false, "nope, just the SSH preamble": false, "no, thats not an icon. please find the proper one": true, "No I think this is fine and has too much risk.": false, "no, keep both and use a fake clock": true, "now the other one, please": false} {
		if got := corrects(sentences(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
