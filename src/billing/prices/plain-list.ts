// Price lists in two forms of YAML that are read without its parser, which takes more than a second for
// 1,500 prices: JSON, and what `gateway price import --from` prints, one item in each line. A text that
// differs from them in anything is left to the parser.
import { isObject } from '../../lib/json/parse.ts'
import { spansIn } from '../../lib/json/spans.ts'

interface PlainList {
  value: unknown
  /** Line of each price, from 1. */
  lines: readonly number[]
}

export function readPlainList(text: string): PlainList | undefined {
  const first = text.trimStart()[0]
  return first === '{' || first === '[' ? readJson(text) : readLines(text)
}

const strings = /("(?:[^"\\]|\\.)*")|\s+/g

/** Undefined where two readers could understand it differently, such as with a key that is repeated. */
function exactly(json: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return JSON.stringify(value) === json.replaceAll(strings, '$1') ? { value } : undefined
  } catch {
    return undefined
  }
}

function readJson(text: string): PlainList | undefined {
  const read = exactly(text)
  if (read === undefined) return undefined
  const outer = spansIn(text, text.search(/\S/))
  const prices = isObject(read.value)
    ? spansIn(text, outer.find(({ key }) => key === 'prices')?.start ?? text.length)
    : outer
  let line = 1
  let at = 0
  const lines = prices.map(({ start }) => {
    for (; at < start; at++) if (text.charCodeAt(at) === 10) line++
    return line
  })
  return { value: read.value, lines }
}

const bareKeys = /"(?:[^"\\]|\\.)*"|([A-Za-z_][\w-]*)(?=:)/g

/** `models:` and `prices:`, below each `  - { model: "a", … }`; comments have a line of their own. */
function readLines(text: string): PlainList | undefined {
  const value: Record<string, unknown[]> = {}
  const lines: number[] = []
  let section: unknown[] | undefined
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue
    const [, name] = /^(models|prices):$/.exec(line) ?? []
    if (name !== undefined) {
      if (value[name] !== undefined) return undefined
      section = value[name] = []
      continue
    }
    if (section === undefined || !line.startsWith('  - {')) return undefined
    const item = exactly(
      line.slice(4).replaceAll(bareKeys, (word, key) => (key === undefined ? word : `"${key}"`)),
    )
    if (item === undefined) return undefined
    section.push(item.value)
    if (section === value['prices']) lines.push(index + 1)
  }
  return value['prices'] === undefined ? undefined : { value, lines }
}
