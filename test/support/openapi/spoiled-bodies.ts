// A body that was right, spoiled as an attacker would: a key again, a key in other letters, or more of
// something than anybody needs. None of them may be taken. Works on the text, as JSON has no such values.
import type { Chance, Json } from './schema-values.ts'

/** `fields`: names whose other spellings must not pass. */
export function spoiled(chance: Chance, text: string, fields: readonly string[]): string {
  const open = text.indexOf('{') + 1
  const put = (entry: string) =>
    `${text.slice(0, open)}${entry}${text.slice(open).trim() === '}' ? '' : ','}${text.slice(open)}`
  if (chance.is(largeShare)) return put(`"x":${chance.pick(large)()}`)
  const given = Object.keys(JSON.parse(text) as Json)
  if (given.length > 0 && (fields.length === 0 || chance.is(0.5))) {
    const again = chance.pick(given)
    return put(`${chance.is(0.3) ? escaped(again) : JSON.stringify(again)}:${chance.pick(values)}`)
  }
  if (fields.length === 0) return put('"a":1,"a":2')
  const field = chance.pick(fields)
  return put(`${JSON.stringify(variantOf(chance, field))}:${chance.pick(values)}`)
}

const largeShare = 0.06
const values = ['null', '1', '"a"', '[]', '{}', 'true']

/** Every unit of it, halves of letters included. */
const escaped = (key: string): string =>
  `"${key.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`

/** Never the field itself. */
function variantOf(chance: Chance, field: string): string {
  const variants = [
    field.toUpperCase(),
    field.toLowerCase(),
    field[0]!.toUpperCase() + field.slice(1),
    field.slice(0, -1) + field.at(-1)!.toUpperCase(),
    field.replace('s', '\u017f'),
    field.replace('k', '\u212a'),
    String.fromCharCode(field.charCodeAt(0) + 0xfee0) + field.slice(1),
  ].filter((each) => each !== field)
  return chance.pick(variants)
}

const bytes = 3 * 1024 * 1024
const filled = (piece: string): string => piece.repeat(Math.floor(bytes / piece.length))

const large: readonly (() => string)[] = [
  () => `[${filled('{},')}0]`,
  () => `[${filled('[],')}0]`,
  () => filled('['),
  () => `"${filled('\\"')}${filled('\\"')}${filled('\\"')}"`,
  () => `{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
]
