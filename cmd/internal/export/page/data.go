package page

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"strings"
)

// A page may hold its conversation as data, because rendered Markdown does not say what was
// typed. Browsers run no script of this type, and compressed data in base64 has no character
// that could end it.
const (
	dataBegin = "<script type=\"application/json\" id=\"data\">{\"encoding\":\"zlib base64\",\"page\":\"sha256-"
	dataLines = "\",\"lines\":\""
	dataEnd   = "\"}</script>"

	generator = "<meta name=\"generator\" content=\"cortext\">"
)

// mostData is the number of bytes that data may unpack to.
const mostData = 1 << 30

// ErrForeign and ErrNoData are errors of [Data].
var (
	ErrForeign = errors.New("is not a page that cortext export wrote")
	ErrNoData  = errors.New("holds no data")
)

var (
	errTruncated = errors.New("it is truncated")
	errDamaged   = errors.New("its data is not what was written")
)

// Is reports whether a file that starts with head is HTML. [Data] says whether it is ours.
func Is(head []byte) bool {
	text := strings.ToLower(strings.TrimLeft(string(head[:min(len(head), 64)]), "\uFEFF \t\r\n"))
	return strings.HasPrefix(text, "<!doctype html") || strings.HasPrefix(text, "<html")
}

// Data returns the data that a page holds, up to most bytes. unpacked is how many bytes
// were unpacked, even if there is an error. same reports whether the page before the data
// is as it was written. The error is [ErrForeign], [ErrNoData], or says what is damaged.
func Data(page []byte, most int64) (data []byte, unpacked int64, same bool, err error) {
	head := page[:min(len(page), 4096)]
	if !bytes.Contains(head, []byte(generator)) {
		return nil, 0, false, ErrForeign
	}
	at := bytes.LastIndex(page, []byte(dataBegin))
	if at < 0 {
		if !bytes.HasSuffix(bytes.TrimSpace(page), []byte("</html>")) {
			return nil, 0, false, errTruncated
		}
		return nil, 0, false, ErrNoData
	}
	if bytes.Index(page, []byte(dataBegin)) != at {
		return nil, 0, false, errors.New("it holds the data of several pages")
	}
	rest, _, whole := bytes.Cut(page[at+len(dataBegin):], []byte(dataEnd))
	was, encoded, ok := bytes.Cut(rest, []byte(dataLines))
	if !whole || !ok {
		return nil, 0, false, errTruncated
	}
	sum := sha256.Sum256(page[:at])
	same = string(was) == hex.EncodeToString(sum[:])
	most = min(mostData, max(most, 0))
	n, err := unpack(io.Discard, encoded, most+1) // first, so that a bomb takes no memory
	switch {
	case n > most:
		return nil, n, false, errors.New("its data unpacks to more than an export of its size")
	case err != nil:
		return nil, n, false, errDamaged
	}
	out := bytes.NewBuffer(make([]byte, 0, n))
	if _, err := unpack(out, encoded, n); err != nil {
		return nil, n, false, errDamaged
	}
	return out.Bytes(), n, same, nil
}

// unpack writes what data unpacks to, up to most bytes, and returns how many it wrote.
func unpack(to io.Writer, encoded []byte, most int64) (int64, error) {
	packed, err := zlib.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(encoded)))
	if err != nil {
		return 0, err
	}
	return io.Copy(to, io.LimitReader(packed, most))
}
