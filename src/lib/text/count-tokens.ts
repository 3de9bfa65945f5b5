// A rough count of the tokens in a text, for holds and for answers whose usage is missing.
// Four Latin letters make about one token; CJK, kana and hangul about one each; emoji more.

const wideLetter = /[\u2e80-\uffff]/

/** Longer texts are counted by their bytes, which is fast: a wide character has two more bytes. */
const longText = 64 * 1024

export function countTokens(text: string): number {
  if (text.length > longText) {
    const wide = Math.ceil((Buffer.byteLength(text) - text.length) / 2)
    return Math.ceil((text.length - wide) / 4) + wide
  }
  // The size of a text is known much faster than what is in it.
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / 4)
  if (!wideLetter.test(text)) return Math.ceil(text.length / 4)
  let wide = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++
  return Math.ceil((text.length - wide) / 4) + wide
}
