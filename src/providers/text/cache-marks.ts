// Marks for the upstream's prompt cache in a request that has none: on the instructions with the tools
// before them, and on the last two turns of the user. The last turn is marked again as the one before
// the last in the next call, so that each call reads what the one before it has written. The rest of
// the text stays as it is, byte for byte.
import type { TextCall } from '../../contract/requests.ts'
import { containersIn } from '../../lib/json/containers.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Span, spansIn } from '../../lib/json/spans.ts'
import type { MarkedBody } from './style.ts'

const mark = '"cache_control":{"type":"ephemeral"}'
const markedTurns = 2

/** Text to insert, and where. */
type Insert = readonly [at: number, text: string]

/** Where a style takes marks. */
interface MarkPlaces {
  /** Fields with instructions, the preferred first; absent: these are messages of their own. */
  instructions?: readonly string[]
  takesMark: (part: Json) => boolean
}

type Json = Readonly<Record<string, unknown>>

/** Styles whose conversation is the list `messages`. */
export function markMessages(
  { body, fields }: Pick<TextCall, 'body' | 'fields'>,
  places: MarkPlaces,
): MarkedBody | undefined {
  if (isTooLarge(body, fields) || hasMarks(fields)) return undefined
  const members = spansIn(body, body.indexOf('{'))
  const contentOf = (name: string): Content => {
    const found = members.filter(({ key }) => key === name)
    // A field that is given twice could be read as either.
    return found.length === 1 ? { span: found[0], value: fields[name] } : {}
  }
  const prompt = (places.instructions ?? [])
    .map((name) => inContent(body, contentOf(name), places))
    .find((inserts) => inserts.length > 0)
  const inserts = [...(prompt ?? []), ...inTurns(body, contentOf('messages'), places)]
  const marks = inserts.filter(([, text]) => text.includes(mark)).length
  return marks === 0 ? undefined : { body: withInserts(body, inserts), marks }
}

/** Finding the places in these takes a few milliseconds; larger ones go without marks. */
const maxMarkedBytes = 2 * 1024 * 1024
const maxContainers = 10_000

const isTooLarge = (body: string, fields: Json): boolean =>
  body.length > maxMarkedBytes || containersIn(fields, maxContainers) >= maxContainers

interface Content {
  span?: Span | undefined
  value?: unknown
}

/** The deepest is on a part of a tool's result. */
const maxMarkDepth = 8

/** The caller's own marks, wherever they are: it knows better. */
function hasMarks(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > maxMarkDepth) return false
  if (Array.isArray(value)) return value.some((each) => hasMarks(each, depth + 1))
  const fields = value as Json
  if (fields['cache_control'] != null || fields['prompt_cache_breakpoint'] != null) return true
  return ['system', 'tools', 'messages', 'content'].some((name) =>
    hasMarks(fields[name], depth + 1),
  )
}

function inTurns(body: string, { span, value: turns }: Content, places: MarkPlaces): Insert[] {
  if (span === undefined || !Array.isArray(turns)) return []
  const spans = spansIn(body, span.start)
  const markIn = (i: number): Insert[] => {
    const contents = spansIn(body, spans[i]!.start).filter(({ key }) => key === 'content')
    const value: unknown = turns[i].content
    return contents.length === 1 ? inContent(body, { span: contents[0], value }, places) : []
  }
  const roles = turns.map((turn) => (isObject(turn) ? turn['role'] : undefined))
  const inserts: Insert[] = []
  for (let i = roles.length - 1, left = markedTurns; i >= 0 && left > 0; i--) {
    const found = roles[i] === 'user' ? markIn(i) : []
    if (found.length > 0) left--
    inserts.push(...found)
  }
  if (places.instructions !== undefined) return inserts
  const first = roles.findIndex((role) => role !== 'system' && role !== 'developer')
  return first > 0 ? [...inserts, ...markIn(first - 1)] : inserts
}

/** A text becomes a list of one part; of a list, the last part that takes a mark gets it. */
function inContent(body: string, { span, value }: Content, { takesMark }: MarkPlaces): Insert[] {
  if (span === undefined) return []
  if (typeof value === 'string') {
    if (value.trim() === '') return []
    return [
      [span.start, '[{"type":"text","text":'],
      [span.end, `,${mark}}]`],
    ]
  }
  if (!Array.isArray(value)) return []
  const at = value.findLastIndex((part) => isObject(part) && !isEmpty(part) && takesMark(part))
  return at === -1 ? [] : [[spansIn(body, span.start)[at]!.end - 1, `,${mark}`]]
}

const isEmpty = (part: Json): boolean => {
  const { type, text } = part
  if (type !== 'text') return Object.keys(part).length === 0
  return typeof text !== 'string' || text.trim() === ''
}

/** Fields may come in any order. */
function withInserts(body: string, inserts: readonly Insert[]): string {
  let marked = ''
  let from = 0
  for (const [at, text] of inserts.toSorted(([a], [b]) => a - b)) {
    marked += body.slice(from, at) + text
    from = at
  }
  return marked + body.slice(from)
}
