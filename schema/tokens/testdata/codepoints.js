// Writes codepoints.golden: for each 4096 code points a checksum of the numbers of
// tokens that tiktoken gives for the texts below.
//
//	npm install tiktoken@1.0.22 && node codepoints.js > codepoints.golden
const encoding = require('tiktoken').get_encoding('o200k_base')

for (let first = 0; first < 0x110000; first += 0x1000) {
	let sum = 0x811c9dc5 // FNV-1a
	for (let i = first; i < first + 0x1000; i++) {
		if (i >= 0xd800 && i < 0xe000) continue // has no UTF-8
		const c = String.fromCodePoint(i)
		for (const text of [c, c + '\r\n\r\n//', 'a' + c, '1' + c, c + c, c + 'The', ' ' + c + "'s", c + '1234']) {
			sum = Math.imul(sum ^ encoding.encode_ordinary(text).length, 0x01000193)
		}
	}
	console.log(first.toString(16), (sum >>> 0).toString(16))
}
