package store

import (
	"errors"
	"testing"
)

func appendUntilFull(*Conversation) error { return errors.ErrUnsupported }

func makePipe(string) error { return errors.ErrUnsupported }

func makeDevice(string) error { return errors.ErrUnsupported }

// asNobody reports that it did not run the test again as a user without rights.
func asNobody(*testing.T) bool { return false }
