// A rough count of the tokens in a text, for holds and for answers whose usage is missing.
// Four Latin letters make about one token; CJK, kana and hangul about one each; emoji more.

export function countTokens(text: string): number {
  let narrow = 0
  let wide = 0
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) < 0x2e80) narrow++
    else wide++
  }
  return Math.ceil(narrow / 4) + wide
}
