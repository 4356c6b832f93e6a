//go:build race

package tokens

const raceDetector = true
