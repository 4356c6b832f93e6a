//go:build !race

package tokens

const raceDetector = false
