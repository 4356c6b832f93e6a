package git

import "testing"

// TestIsShell checks which hooks our part may be added to.
func TestIsShell(t *testing.T) {
	for first, want := range map[string]bool{
		"#!/bin/sh\n": true, "#!/bin/sh -e\n": true, "#!/usr/bin/env bash\n": true, "#! /bin/ash\n": true,
		"#!/usr/bin/python3\n": false, "#!/usr/bin/env node\n": false, "#!\n": false,
	} {
		if got := isShell(first); got != want {
			t.Errorf("%q: %v", first, got)
		}
	}
}
