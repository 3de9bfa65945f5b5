// Marks for the upstream's prompt cache in a request that has none: on the instructions with the tools
// before them, and on the last two turns of the user. The last turn is marked again as the one before
// the last in the next call, so that each call reads what the one before it has written. The rest of
// the text stays as it is, byte for byte.
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Span, spansIn } from '../../lib/json/spans.ts'
import type { MarkedBody } from '../text/style.ts'

const mark = '"cache_control":{"type":"ephemeral"}'
const markedTurns = 2

/** Text to insert, and where. */
type Insert = readonly [at: number, text: string]

export function withCacheMarks({ body, fields }: TextCall): MarkedBody | undefined {
  if (hasMarks(fields)) return undefined
  const members = spansIn(body, body.indexOf('{'))
  const memberOf = (name: string) => {
    const found = members.filter(({ key }) => key === name)
    // A field that is given twice could be read as either.
    return found.length === 1 ? found[0] : undefined
  }
  const system = inContent(body, memberOf('system'), fields['system'])
  const inserts = [
    ...(system.length > 0 ? system : inContent(body, memberOf('tools'), fields['tools'])),
    ...inTurns(body, memberOf('messages'), fields['messages']),
  ]
  const marks = inserts.filter(([, text]) => text.includes(mark)).length
  return marks === 0 ? undefined : { body: withInserts(body, inserts), marks }
}

/** The caller's own marks, wherever they are: it knows better. */
function hasMarks(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > maxMarkDepth) return false
  if (Array.isArray(value)) return value.some((each) => hasMarks(each, depth + 1))
  const fields = value as Readonly<Record<string, unknown>>
  if (fields['cache_control'] != null) return true
  return ['system', 'tools', 'messages', 'content'].some((name) =>
    hasMarks(fields[name], depth + 1),
  )
}

/** The deepest is on a part of a tool's result. */
const maxMarkDepth = 8

function inTurns(body: string, span: Span | undefined, turns: unknown): Insert[] {
  if (span === undefined || !Array.isArray(turns)) return []
  const spans = spansIn(body, span.start)
  const inserts: Insert[] = []
  let left = markedTurns
  for (let i = turns.length - 1; i >= 0 && left > 0; i--) {
    const turn: unknown = turns[i]
    if (!isObject(turn) || turn['role'] !== 'user') continue
    const contents = spansIn(body, spans[i]!.start).filter(({ key }) => key === 'content')
    const found = contents.length === 1 ? inContent(body, contents[0], turn['content']) : []
    if (found.length > 0) left--
    inserts.unshift(...found)
  }
  return inserts
}

/** A text becomes a list of one part; of a list, the last part that takes a mark gets it. */
function inContent(body: string, span: Span | undefined, content: unknown): Insert[] {
  if (span === undefined) return []
  if (typeof content === 'string') {
    if (content.trim() === '') return []
    return [
      [span.start, '[{"type":"text","text":'],
      [span.end, `,${mark}}]`],
    ]
  }
  if (!Array.isArray(content)) return []
  const at = content.findLastIndex(takesMark)
  return at === -1 ? [] : [[spansIn(body, span.start)[at]!.end - 1, `,${mark}`]]
}

function takesMark(part: unknown): boolean {
  if (!isObject(part) || Object.keys(part).length === 0) return false
  const { type, text, defer_loading: isDeferred } = part
  if (type === 'thinking' || type === 'redacted_thinking' || isDeferred === true) return false
  return type !== 'text' || (typeof text === 'string' && text.trim() !== '')
}

/** Fields may come in any order. */
function withInserts(body: string, inserts: readonly Insert[]): string {
  const ordered = inserts.toSorted(([a], [b]) => a - b)
  let marked = ''
  let from = 0
  for (const [at, text] of ordered) {
    marked += body.slice(from, at) + text
    from = at
  }
  return marked + body.slice(from)
}
