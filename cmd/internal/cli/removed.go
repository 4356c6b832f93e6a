package cli

import (
	"fmt"

	"cortext/store"
)

// sayRemoved lists conversations that were removed in another clone or on another
// machine, or says why they are unknown.
func (a *app) sayRemoved(removed []store.Entry, err error) {
	if err != nil {
		a.warn(err.Error())
	}
	for _, e := range removed {
		a.warn(fmt.Sprintf("%s was removed elsewhere and is not captured any more; its folder stays: cortext rm removes it here, cortext import captures it again", visible(e.Path)))
	}
}
