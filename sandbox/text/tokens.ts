// The sandbox's tokenizer: crude, but exact and the same everywhere in the simulator. Pieces tile
// the text, so joining them gives it back, and any first N pieces are themselves N tokens.
//   'Hello wonderful world.' -> 'Hello' ' wonder' 'ful' ' world' '.'     '你好' -> '你' '好'

// A word of at most six letters or digits with the space before it; any other letter (CJK among
// them) alone; a run of punctuation; a run of space.
const piece = / ?[A-Za-z0-9]{1,6}|[\p{L}\p{N}\p{M}]| ?[^\p{L}\p{N}\p{M}\s]+|\s+/gu

export function splitTokens(text: string): readonly string[] {
  return text.match(piece) ?? []
}

export function countTokens(text: string): number {
  return splitTokens(text).length
}
