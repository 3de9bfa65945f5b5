// The items of a responses request as turns: messages, reasoning, calls and their results.
import { isObject } from '../../lib/json/parse.ts'
import { objectsIn, textIn } from '../../lib/json/values.ts'
import type {
  Json,
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../common/conversation.ts'
import type { Seal } from '../common/envelope.ts'
import { present, type RequestReading } from '../common/request-reading.ts'
import { fieldNames, isInnerKind, loseUnknown } from './field-names.ts'
import { readContent } from './read-parts.ts'
import { foundText, searchTool, type ToolList } from './read-tools.ts'

const roles: Readonly<Record<string, Turn['role']>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
}

/** Of a name that a caller made up. */
const maxShownName = 64

export class ItemReader {
  readonly system: TextPart[] = []
  readonly turns: Turn[] = []
  /** Lists of tools that came as items. */
  readonly tools: ToolList[] = []
  readonly #reading: RequestReading
  /** Calls without a result: how many, by id. */
  readonly #openCalls = new Map<string, number>()
  /** Calls of the last turn, by id. */
  #lastCalls = new Map<string, ToolCallPart>()

  constructor(reading: RequestReading) {
    this.#reading = reading
  }

  read(input: unknown): void {
    if (typeof input === 'string') this.#add('user', readContent(input, 'input', this.#reading))
    else if (!Array.isArray(input)) this.#reading.wrong('input', 'a text or a list')
    else for (const [index, item] of input.entries()) this.#item(item, `input[${index}]`)
  }

  instructions(value: unknown): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) this.#item(item, `instructions[${index}]`)
    } else this.#add('system', readContent(value, 'instructions', this.#reading))
  }

  #item(item: unknown, path: string): void {
    if (!isObject(item)) {
      this.#reading.wrong(path, 'an object')
      return
    }
    const type = textIn(item, 'type') || (textIn(item, 'role') ? 'message' : 'item_reference')
    if (isInnerKind(type)) loseUnknown(item, type, this.#reading.losses)
    if (type === 'message') this.#message(item, path)
    else if (type === 'reasoning') this.#addReasoning(this.#reasoning(item))
    else if (type === 'function_call') this.#call(item, path, 'arguments')
    else if (type === 'custom_tool_call') this.#call(item, path, 'input')
    else if (type === 'tool_search_call') {
      this.#call({ ...item, name: searchTool }, path, 'arguments')
    } else if (type === 'tool_search_output') this.#found(item, path)
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      this.#result(item, path)
    } else if (type === 'additional_tools') {
      this.tools.push({ list: item['tools'], path: `${path}.tools` })
    } else {
      const name = type.slice(0, maxShownName)
      this.#reading.refuse(`${path}.type`, `items of the type '${name}' cannot be translated`)
    }
  }

  /** Instructions before the first turn are the system prompt. */
  #add(role: Turn['role'], parts: readonly Part[]): void {
    if (parts.length === 0) return
    const last = this.turns.at(-1)
    if (last?.role === role) for (const part of parts) last.parts.push(part)
    else if (role === 'system' && last === undefined) {
      for (const part of parts) if (part.type === 'text') this.system.push(part)
    } else {
      this.turns.push({ role, parts: [...parts] })
      if (this.#lastCalls.size > 0) this.#lastCalls = new Map()
    }
  }

  #message(item: Json, path: string): void {
    const name = textIn(item, 'role') ?? ''
    const role = Object.hasOwn(roles, name) ? roles[name] : undefined
    if (role === undefined) {
      this.#reading.wrong(`${path}.role`, 'user, assistant, system or developer')
      return
    }
    const parts = readContent(item['content'], `${path}.content`, this.#reading)
    const allowed = allowedParts[role]
    const odd = parts.find(({ type }) => allowed !== undefined && !allowed.includes(type))
    if (odd !== undefined) {
      this.#reading.wrong(`${path}.content`, `without ${odd.type} in a message of this role`)
    }
    this.#add(role, parts)
  }

  #reasoning(item: Json): ReasoningPart {
    const { envelopes, losses } = this.#reading
    const sealed = textIn(item, 'encrypted_content')
    const seal = sealed ? envelopes.unwrap(sealed) : undefined
    if (sealed && seal === undefined) losses.add(fieldNames.reasoning)
    return {
      type: 'reasoning',
      text: seal?.text ?? (textsOf(item, 'summary') || textsOf(item, 'content')),
      ...present({ seal, redacted: seal?.redacted }),
    }
  }

  /** A seal that names a call of the turn is the call's own. */
  #addReasoning(part: ReasoningPart): void {
    const { seal } = part
    const sealed = seal?.itemId === undefined ? undefined : this.#lastCalls.get(seal.itemId)
    if (sealed === undefined || seal === undefined) this.#add('assistant', [part])
    else sealed.seal = unnamed(seal)
  }

  #call(item: Json, path: string, field: 'arguments' | 'input'): void {
    const [id, name] = [textIn(item, 'call_id') || textIn(item, 'id'), textIn(item, 'name')]
    if (!id) this.#reading.wrong(`${path}.call_id`, 'a text')
    if (!name) this.#reading.wrong(`${path}.name`, 'a text')
    if (!id || !name) return
    const freeForm = field === 'input'
    const value = item[field]
    const input = typeof value === 'string' ? value : JSON.stringify(value ?? {})
    const namespace = textIn(item, 'namespace')
    this.#openCalls.set(id, (this.#openCalls.get(id) ?? 0) + 1)
    const call: ToolCallPart = {
      type: 'call',
      id,
      name,
      ...present({ namespace }),
      freeForm,
      input: input || emptyInput(freeForm),
    }
    this.#add('assistant', [call])
    if (!this.#lastCalls.has(id)) this.#lastCalls.set(id, call)
  }

  #result(item: Json, path: string): void {
    const callId = textIn(item, 'call_id') || this.#onlyOpenCall()
    if (callId === undefined) {
      this.#reading.wrong(`${path}.call_id`, 'the id of a call')
      return
    }
    const open = this.#openCalls.get(callId) ?? 0
    if (open > 1) this.#openCalls.set(callId, open - 1)
    else this.#openCalls.delete(callId)
    const read = readContent(item['output'], `${path}.output`, this.#reading)
    const parts = read.filter(isResultPart)
    const result: ToolResultPart = { type: 'result', callId, parts, isError: false }
    this.#add('user', [result])
  }

  #found(item: Json, path: string): void {
    this.tools.push({ list: item['tools'], path: `${path}.tools`, isFound: true })
    this.#result({ ...item, output: foundText(item['tools']) }, path)
  }

  /** A result without an id belongs to the call that waits for one, if there is only one. */
  #onlyOpenCall(): string | undefined {
    const [only, ...more] = this.#openCalls.size === 1 ? this.#openCalls : []
    return only !== undefined && more.length === 0 && only[1] === 1 ? only[0] : undefined
  }
}

const unnamed = ({ itemId: _, ...seal }: Seal): Seal => seal

const emptyInput = (freeForm: boolean): string => (freeForm ? '' : '{}')

const allowedParts: Partial<Record<Turn['role'], readonly Part['type'][]>> = {
  assistant: ['text', 'refusal'],
  system: ['text'],
}

const isResultPart = (part: Part): part is TextPart | MediaPart =>
  part.type !== 'call' &&
  part.type !== 'result' &&
  part.type !== 'reasoning' &&
  part.type !== 'refusal'

const textsOf = (item: Json, name: string): string =>
  objectsIn(item, name)
    .map((part) => textIn(part, 'text') ?? '')
    .filter((text) => text !== '')
    .join('\n\n')
