// What each loss explains: how a conversation that an upstream was asked looks if it were not for that
// loss. With all declared losses explained, it must be the caller's; with one of them less, it must not.
import type { Conversation, FieldNames } from '../../../src/styles/common/conversation.ts'
import { freeFormSchema } from '../../../src/styles/common/free-form.ts'
import type { Aspect } from '../conversations/conversation-case.ts'
import type { Entry, Said } from './said.ts'

interface Sides {
  given: Said
  asked: Said
}

type Explain = (sides: Sides) => void

const copy =
  (...names: (keyof Said)[]): Explain =>
  ({ given, asked }) => {
    for (const name of names) {
      if (given[name] === undefined) delete asked[name]
      else Object.assign(asked, { [name]: given[name] })
    }
  }

const copySampling =
  (name: keyof Said['sampling']): Explain =>
  ({ given, asked }) => {
    const { [name]: _, ...rest } = asked.sampling
    const value = given.sampling[name]
    asked.sampling = value === undefined ? rest : { ...rest, [name]: value }
  }

const explains: Partial<Record<Aspect, Explain>> = {
  turns: explainTurns,
  result: explainResults,
  isError: explainErrors,
  'document text': ({ given, asked }) => {
    given.entries = given.entries.map((entry) => asText(entry, asked.entries))
  },
  'document.name': ({ given }) => {
    for (const media of mediaIn(given)) delete media.name
  },
  refusal: ({ given }) => {
    given.entries = given.entries.map((entry) =>
      entry.type === 'refusal' ? { ...entry, type: 'text' } : entry,
    )
  },
  reasoning: (sides) => {
    for (const side of [sides.given, sides.asked]) {
      side.entries = side.entries.filter(({ type }) => type !== 'reasoning')
    }
  },
  cache: ({ given, asked }) => {
    asked.marks = given.marks.map((mark) => asked.marks.find(({ of }) => of === mark.of) ?? mark)
  },
  'cache.ttl': ({ given, asked }) => {
    for (const side of [given, asked]) side.marks = side.marks.map(({ of }) => ({ of }))
  },
  toolFreeForm: explainFreeForm,
  toolStrict: ({ given, asked }) => {
    for (const [index, tool] of asked.tools.entries()) tool.strict = given.tools[index]!.strict
  },
  toolChoice: copy('toolChoice', 'tools'),
  parallelCalls: copy('parallelCalls'),
  maxOutputTokens: copy('maxOutputTokens'),
  stop: copy('stop'),
  temperature: copySampling('temperature'),
  topP: copySampling('topP'),
  topK: copySampling('topK'),
  presencePenalty: copySampling('presencePenalty'),
  frequencyPenalty: copySampling('frequencyPenalty'),
  seed: copySampling('seed'),
  format: copy('format', 'system', 'tools', 'toolChoice', 'parallelCalls'),
  effort: copy('effort', 'budget'),
}

/** Instructions between turns, a turn before the first, white space, and inputs that are no objects. */
function explainTurns({ given, asked }: Sides): void {
  asked.entries = asked.entries
    .map((entry): Entry => {
      if (entry.type !== 'text') return entry
      const [, inner] = /^<system>\n(.*)\n<\/system>$/s.exec(entry.text) ?? []
      return inner === undefined ? entry : { role: 'system', type: 'text', text: inner }
    })
    .filter((entry) => !('text' in entry) || !entry.text.startsWith('(the conversation begins'))
  given.entries = given.entries
    .filter((entry) => entry.type !== 'text' || entry.text.trim() !== '')
    .filter((entry, at, all) => entry.type !== 'result' || isLastResult(entry.id, at, all))
  const ids = given.entries.flatMap((entry) => (entry.type === 'result' ? [entry.id] : []))
  asked.entries = asked.entries.filter(
    (entry) =>
      entry.type !== 'result' || ids.includes(entry.id) || !/no result was given/.test(entry.text),
  )
  const inputs = given.entries.flatMap((entry) => (entry.type === 'call' ? [entry.input] : []))
  for (const entry of asked.entries) {
    if (entry.type !== 'call') continue
    const input = inputs.shift() ?? ''
    const wrapped = [JSON.stringify({ _raw: input }), `{"input":${input}}`]
    if (wrapped.includes(entry.input)) entry.input = input
  }
  if (!Bun.deepEquals(textsOf(given), textsOf(asked))) return
  given.entries = callsLast(given.entries)
  asked.entries = callsLast(asked.entries)
}

const isLastResult = (id: string, at: number, all: readonly Entry[]): boolean =>
  all.findLastIndex((each) => each.type === 'result' && each.id === id) === at

const textsOf = ({ entries }: Said): unknown =>
  joined(callsLast(entries)).filter(({ type }) => type === 'text')

/** Texts of a turn before its calls. */
function callsLast(entries: readonly Entry[]): Entry[] {
  const sorted: Entry[] = []
  let calls: Entry[] = []
  for (const entry of entries) {
    if (entry.role !== 'assistant') sorted.push(...calls.splice(0))
    if (entry.type === 'call') calls.push(entry)
    else sorted.push(entry)
  }
  calls = [...calls]
  return [...sorted, ...calls]
}

/** Media of results that came behind the results. */
function explainResults({ given, asked }: Sides): void {
  const follows = /\n?\[(?:image|document|audio|video) \d+ of the result of [^\]]+ follows\]/g
  for (const [at, entry] of asked.entries.entries()) {
    if (entry.type !== 'result') continue
    entry.text = entry.text.replaceAll(follows, '')
    const own = given.entries.find((each) => each.type === 'result' && each.id === entry.id)
    const count = own?.type === 'result' ? own.media.length - entry.media.length : 0
    for (let moved = 0; moved < count; moved++) {
      const next = asked.entries.findIndex((each, index) => index > at && each.type === 'media')
      const [found] = next === -1 ? [] : asked.entries.splice(next, 1)
      if (found?.type === 'media') entry.media.push(found.media)
    }
  }
}

function explainErrors({ asked }: Sides): void {
  for (const entry of asked.entries) {
    if (entry.type !== 'result' || !entry.text.startsWith('[error]')) continue
    entry.text = entry.text.replace(/^\[error\] ?/, '')
    entry.isError = true
  }
}

/** A text document as the text that the upstream was asked, with its name or without. */
function asText(entry: Entry, asked: readonly Entry[]): Entry {
  if (entry.type !== 'media' || entry.media.mimeType !== 'text') return entry
  const { source, name } = entry.media
  const named = `${name}\n\n${source}`
  const isNamed = asked.some((each) => each.type === 'text' && each.text.includes(named))
  return { role: entry.role, type: 'text', text: isNamed ? named : source }
}

/** A function with one text in it, which tells the grammar. */
function explainFreeForm({ given, asked }: Sides): void {
  for (const [index, tool] of given.tools.entries()) {
    const { freeForm, description } = tool
    const sent = asked.tools[index]
    if (freeForm === undefined || sent === undefined) continue
    const isWhole =
      Bun.deepEquals(sent.schema, freeFormSchema) &&
      sent.description.startsWith(description) &&
      sent.description.includes(freeForm.grammar ?? '')
    if (isWhole) asked.tools[index] = tool
  }
}

function joined(entries: readonly Entry[]): Entry[] {
  const all: Entry[] = []
  for (const entry of entries) {
    const last = all.at(-1)
    if (entry.type === 'text' && last?.type === 'text' && last.role === entry.role) {
      all[all.length - 1] = { ...last, text: `${last.text}\n\n${entry.text}` }
    } else all.push(entry)
  }
  return all
}

/** The caller's own name of an aspect. */
export function lossName(fieldNames: FieldNames, aspect: Aspect): string {
  if (aspect === 'document text') return fieldNames.document
  const [field, more] = aspect.split('.') as [keyof FieldNames, string | undefined]
  return more === undefined ? fieldNames[field] : `${fieldNames[field]}.${more}`
}

/** Both sides after the losses are explained. */
function explained(given: Said, asked: Said, fieldNames: FieldNames, losses: readonly string[]) {
  const sides: Sides = { given: structuredClone(given), asked: structuredClone(asked) }
  for (const [aspect, explain] of Object.entries(explains)) {
    if (losses.includes(lossName(fieldNames, aspect as Aspect))) explain(sides)
  }
  for (const side of [sides.given, sides.asked]) side.entries = joined(side.entries)
  if (given.maxOutputTokens === undefined) delete sides.asked.maxOutputTokens
  for (const media of mediaIn(sides.asked)) {
    if (/^document\.\w+$/.test(media.name ?? '') && !isNamed(given)) delete media.name
  }
  // More than the caller wants is no loss.
  if (!given.format.strict) sides.asked.format.strict = false
  // A word may be said as a number.
  if (given.budget === undefined) delete sides.asked.budget
  return sides
}

const mediaIn = ({ entries }: Said) =>
  entries.flatMap((entry) => {
    if (entry.type === 'result') return entry.media
    return entry.type === 'media' ? [entry.media] : []
  })
const isNamed = (given: Said): boolean => mediaIn(given).some(({ name }) => name !== undefined)

export interface Compared extends Sides {
  /** Declared, although nothing of it differs. */
  untrue: string[]
}

/** What is left of the differences between a caller's conversation and the one at the upstream. */
export function compare(
  { fieldNames }: Conversation,
  given: Said,
  asked: Said,
  losses: readonly string[],
): Compared {
  const untrue = losses.filter((loss) => {
    const others = losses.filter((each) => each !== loss)
    const sides = explained(given, asked, fieldNames, others)
    return Bun.deepEquals(sides.given, sides.asked)
  })
  return { ...explained(given, asked, fieldNames, losses), untrue }
}
