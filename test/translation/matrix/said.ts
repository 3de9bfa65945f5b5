// A conversation as what it says, whichever style it was read from: ids are numbers, inputs are JSON
// without white space, texts of one turn are one text, and what means the same looks the same.
import type {
  Conversation,
  Effort,
  Json,
  MediaPart,
  Part,
  Sampling,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '../../../src/styles/common/conversation.ts'
import { effortOf } from '../../../src/styles/common/effort.ts'
import { parseExact } from '../../../src/styles/common/exact-json.ts'
import { unwrapInput } from '../../../src/styles/common/free-form.ts'
import { Growth } from '../../../src/styles/common/growth.ts'
import {
  objectSchema,
  withDescription,
  withoutConstraints,
} from '../../../src/styles/common/json-schema.ts'
import type { ToolNames } from '../../../src/styles/common/tool-names.ts'
import { plainSchema } from '../../../src/styles/generate/plain-schema.ts'

export interface SaidMedia {
  type: MediaPart['type']
  source: string
  mimeType?: string
  name?: string
}

export type Entry = { role: Turn['role'] } & (
  | { type: 'text' | 'refusal'; text: string }
  | { type: 'reasoning' }
  | { type: 'call'; id: string; name: string; freeForm: boolean; input: string }
  | { type: 'result'; id: string; text: string; media: SaidMedia[]; isError: boolean }
  | { type: 'media'; media: SaidMedia }
)

export interface SaidTool {
  name: string
  description: string
  schema?: Json
  strict: boolean
  freeForm?: Tool['freeForm']
}

export interface Said {
  system: string
  entries: Entry[]
  marks: { of: string; ttl?: string }[]
  tools: SaidTool[]
  toolChoice: ToolChoice
  parallelCalls: boolean
  maxOutputTokens?: number
  stop: readonly string[]
  sampling: Sampling
  format: { kind: string; schema?: Json; strict: boolean }
  effort?: Effort
  budget?: number
}

/** `names`: of the upstream that the conversation was written for. */
export function said(conversation: Conversation, names?: ToolNames): Said {
  const { system, tools, toolChoice, parallelCalls, stop, sampling, format } = conversation
  const { effort, reasoningBudget, maxOutputTokens } = conversation
  const hasTools = tools.length > 0
  const reader = new EntryReader(names)
  const word = effortOf(conversation)
  return {
    system: system.map(({ text }) => text).join('\n\n'),
    entries: conversation.turns.flatMap((turn) => reader.read(turn)),
    marks: marksIn(conversation),
    tools: tools.map((tool) => saidTool(tool, names)),
    toolChoice: hasTools ? saidChoice(toolChoice, names) : { mode: 'auto' },
    parallelCalls: !hasTools || toolChoice?.mode === 'none' || parallelCalls !== false,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    stop,
    sampling,
    format:
      format.kind === 'schema'
        ? {
            kind: 'schema',
            schema: answerSchema(withDescription(format.schema, format.description).schema),
            strict: format.strict === true,
          }
        : { kind: format.kind, strict: false },
    ...(word !== undefined && { effort: word }),
    ...(effort === undefined && reasoningBudget !== undefined && { budget: reasoningBudget }),
  }
}

class EntryReader {
  readonly #names: ToolNames | undefined
  readonly #ids = new Map<string, string>()

  constructor(names: ToolNames | undefined) {
    this.#names = names
  }

  /** Results come first, in the order of their calls. */
  read({ role, parts }: Turn): Entry[] {
    const entries = parts.map((part) => this.#entry(role, part))
    const results = entries.flatMap((entry) => (entry.type === 'result' ? [entry] : []))
    const rest = entries.filter(({ type }) => type !== 'result')
    return [...results.toSorted((a, b) => numberOf(a.id) - numberOf(b.id)), ...rest]
  }

  #entry(role: Turn['role'], part: Part): Entry {
    if (part.type === 'text' || part.type === 'refusal') {
      return { role, type: part.type, text: part.text }
    }
    if (part.type === 'reasoning') return { role, type: 'reasoning' }
    if (part.type === 'call') {
      const { name, freeForm } = originalOf(part, this.#names)
      const isWrapped = freeForm && !part.freeForm
      const input = isWrapped ? unwrapInput(part.input) : part.input
      const isText = part.freeForm || freeForm
      const id = this.#idOf(part.id)
      return {
        role,
        type: 'call',
        id,
        name,
        freeForm: isText,
        input: isText ? input : plain(input),
      }
    }
    if (part.type === 'result') return { role, ...this.#result(part) }
    return { role, type: 'media', media: saidMedia(part) }
  }

  #result({ callId, parts, isError }: ToolResultPart) {
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    const media = parts.flatMap((part) => (part.type === 'text' ? [] : [saidMedia(part)]))
    return {
      type: 'result' as const,
      id: this.#idOf(callId),
      text: texts.join('\n'),
      media,
      isError,
    }
  }

  #idOf(id: string): string {
    const known = this.#ids.get(id) ?? `call ${this.#ids.size}`
    this.#ids.set(id, known)
    return known
  }
}

const numberOf = (id: string): number => Number(id.slice('call '.length))

/** No arguments are an empty object. */
function plain(input: string): string {
  const value = parseExact(input.trim() === '' ? '{}' : input)
  return value === undefined ? input : JSON.stringify(value)
}

function originalOf(
  { name, namespace, freeForm }: { name: string; namespace?: string; freeForm?: unknown },
  names: ToolNames | undefined,
): { name: string; freeForm: boolean } {
  const isFree = freeForm !== undefined && freeForm !== false
  const found = names?.original(name) ?? { name, namespace, freeForm: isFree }
  const full = found.namespace === undefined ? found.name : `${found.namespace}/${found.name}`
  return { name: full, freeForm: found.freeForm }
}

/** Names of files are compared where there is one; a URL tells its type. */
function saidMedia({ type, mimeType, data, url, text, name }: MediaPart): SaidMedia {
  const named = name === undefined ? {} : { name }
  if (text !== undefined) return { type, source: text, mimeType: 'text', ...named }
  if (type === 'document' && data !== undefined && mimeType?.startsWith('text/')) {
    return { type, source: Buffer.from(data, 'base64').toString(), mimeType: 'text', ...named }
  }
  if (url !== undefined) return { type, source: url, ...named }
  return { type, source: data ?? '', ...(mimeType !== undefined && { mimeType }), ...named }
}

function saidTool(tool: Tool, names: ToolNames | undefined): SaidTool {
  const { description = '', schema, strict, freeForm } = tool
  return {
    name: originalOf(tool, names).name,
    description,
    ...(schema !== undefined && { schema: toolSchema(schema) }),
    strict: strict === true,
    ...(freeForm !== undefined && { freeForm }),
  }
}

const anySize = new Growth(Number.POSITIVE_INFINITY)

/** Where a schema can be said in simpler words without a change of meaning, these. */
function toolSchema(given: Json): Json {
  const { schema } = objectSchema(given)
  const simple = plainSchema(schema, anySize)
  return simple.changed ? schema : simple.schema
}

function answerSchema(given: Json): Json {
  const closed = withoutConstraints(given)
  const schema = closed.changed ? given : closed.schema
  const simple = plainSchema(schema, anySize)
  return simple.changed ? schema : simple.schema
}

function saidChoice(choice: ToolChoice | undefined, names: ToolNames | undefined): ToolChoice {
  if (choice === undefined) return { mode: 'auto' }
  if (choice.mode === 'tool') return { mode: 'tool', name: originalOf(choice, names).name }
  if (choice.mode !== 'allowed') return choice
  const allowed = choice.names.map((name) => originalOf({ name }, names).name)
  const [only, ...more] = allowed
  if (choice.required && more.length === 0) return { mode: 'tool', name: only! }
  return { ...choice, names: allowed }
}

function marksIn({ tools, system, turns }: Conversation): Said['marks'] {
  const parts = turns.flatMap((turn) => turn.parts)
  const inner = parts.flatMap((part): Part[] =>
    part.type === 'result' ? [part, ...part.parts] : [part],
  )
  return [...tools, ...system, ...inner].flatMap((each) => {
    if (!('cache' in each) || each.cache === undefined) return []
    const of = 'text' in each ? `${each.text}` : 'name' in each ? `${each.name}` : ''
    return [{ of, ...each.cache }]
  })
}
