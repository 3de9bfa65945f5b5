// The contents of a generate request as turns. Calls and results need no ids in this style: a result
// without one belongs to the first open call of its name.
import { isObject } from '../../lib/json/parse.ts'
import { objectIn, objectsIn, textIn } from '../../lib/json/values.ts'
import type { Json, MediaPart, ReasoningPart, TextPart, Turn } from '../common/conversation.ts'
import { mediaKindOf, mimeTypeOfName } from '../common/data-url.ts'
import type { Seal } from '../common/envelope.ts'
import { present, type RequestReading } from '../common/request-reading.ts'
import { mergeTurns } from '../common/turns.ts'
import { asWritten, camelCased, fieldNames, loseUnknown, noSeal } from './field-names.ts'
import { OpenCalls } from './open-calls.ts'

const roles: Readonly<Record<string, Turn['role']>> = {
  user: 'user',
  function: 'user',
  tool: 'user',
  model: 'assistant',
  assistant: 'assistant',
}

/** Beside what a part holds. */
const besides = new Set(['thought', 'thoughtSignature', 'mediaResolution', 'partMetadata', 'text'])
const held = ['functionCall', 'functionResponse', 'inlineData', 'fileData'] as const

export class ContentReader {
  readonly #turns: Turn[] = []
  readonly #reading: RequestReading
  readonly #openCalls = new OpenCalls()

  constructor(reading: RequestReading) {
    this.#reading = reading
  }

  /** A list; some clients send a text or one content. */
  read(contents: unknown): Turn[] {
    const list = Array.isArray(contents) ? contents : contents == null ? [] : [contents]
    for (const [index, content] of list.entries()) this.#content(content, `contents[${index}]`)
    return mergeTurns(this.#turns)
  }

  #content(content: unknown, at: string): void {
    if (typeof content === 'string') {
      this.#turnOf('user').parts.push({ type: 'text', text: content })
      return
    }
    if (!isObject(content)) {
      this.#reading.wrong(at, 'an object')
      return
    }
    const name = textIn(content, 'role') ?? 'user'
    const role = Object.hasOwn(roles, name) ? roles[name] : undefined
    if (role === undefined) {
      this.#reading.wrong(`${at}.role`, 'user or model')
      return
    }
    loseUnknown(content, 'contents.', this.#reading.losses)
    const turn = this.#turnOf(role)
    for (const { item, at: place } of this.#reading.objects(content, 'parts', `${at}.`)) {
      this.#part(camelCased(item), place, turn)
    }
  }

  #turnOf(role: Turn['role']): Turn {
    const last = this.#turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, parts: [] }
    this.#turns.push(turn)
    return turn
  }

  #part(part: Json, at: string, turn: Turn): void {
    const [kind] = held.filter((name) => isObject(part[name]))
    const other = Object.keys(part).find(
      (name) => name !== kind && !besides.has(name) && part[name] != null,
    )
    if (other === 'videoMetadata') this.#reading.losses.add('contents.parts.videoMetadata')
    else if (other !== undefined) {
      this.#reading.refuse(`${at}.${asWritten(part, other)}`, 'such a part cannot be translated')
    }
    const value = camelCased(objectIn(part, kind ?? '') ?? {})
    const signature = textIn(part, 'thoughtSignature')
    if (kind === 'functionCall') this.#call(value, signature, at, turn)
    else if (kind === 'functionResponse') this.#result(value, at, turn)
    else if (kind !== undefined) turn.parts.push(...this.#media(kind, value, `${at}.${kind}`))
    else this.#text(part, signature, turn)
  }

  #text(part: Json, signature: string | undefined, turn: Turn): void {
    const text = textIn(part, 'text') ?? ''
    const isThought = part['thought'] === true
    if (isThought) addPiece(turn, { type: 'reasoning', text })
    this.#seal(this.#unwrapped(signature), turn)
    if (!isThought) addPiece(turn, { type: 'text', text })
  }

  #unwrapped(signature: string | undefined): Seal | undefined {
    if (!signature || signature === noSeal) return undefined
    const seal = this.#reading.envelopes.unwrap(signature)
    if (seal === undefined) this.#reading.losses.add(fieldNames.reasoning)
    return seal
  }

  /** A seal is for the reasoning before its part, which may not be shown. */
  #seal(seal: Seal | undefined, turn: Turn): void {
    if (seal === undefined) return
    const last = turn.parts.at(-1)
    const shown = last?.type === 'reasoning' && last.seal === undefined ? last.text : undefined
    if (shown !== undefined) turn.parts.pop()
    turn.parts.push({
      type: 'reasoning',
      text: seal.text ?? shown ?? '',
      seal,
      ...present({ redacted: seal.redacted }),
    })
  }

  /** A seal that names the call is its own; any other is of the reasoning before it. */
  #call(call: Json, signature: string | undefined, at: string, turn: Turn): void {
    loseUnknown(call, 'contents.parts.functionCall.', this.#reading.losses)
    const name = this.#reading.requiredText(call, 'name', `${at}.functionCall.`)
    const id = textIn(call, 'id') || `call_${at.replaceAll(/\D+/g, '_').replaceAll(/^_|_$/g, '')}`
    const seal = this.#unwrapped(signature)
    const own = seal?.itemId === id && textIn(call, 'id') === id ? unnamed(seal) : undefined
    if (own === undefined) this.#seal(seal, turn)
    this.#openCalls.add(id, name)
    const input = JSON.stringify(call['args'] ?? {})
    turn.parts.push({ type: 'call', id, name, freeForm: false, input, ...present({ seal: own }) })
  }

  #result(result: Json, at: string, turn: Turn): void {
    loseUnknown(result, 'contents.parts.functionResponse.', this.#reading.losses)
    const name = textIn(result, 'name')
    const id = textIn(result, 'id')
    const callId = this.#openCalls.take(id, name) ?? id
    if (!callId && !id) {
      this.#reading.wrong(`${at}.functionResponse.id`, 'the id of a call')
      return
    }
    const media = objectsIn(result, 'parts').flatMap((part, index) =>
      this.#resultMedia(camelCased(part), `${at}.functionResponse.parts[${index}]`),
    )
    const { text, isError } = resultText(objectIn(result, 'response') ?? {}, name)
    const texts: TextPart[] = text === '' ? [] : [{ type: 'text', text }]
    turn.parts.push({
      type: 'result',
      callId: callId ?? '',
      ...present({ name }),
      parts: [...texts, ...media],
      isError,
    })
  }

  #resultMedia(part: Json, at: string): MediaPart[] {
    loseUnknown(part, 'contents.parts.functionResponse.parts.', this.#reading.losses)
    const kind = isObject(part['inlineData']) ? 'inlineData' : 'fileData'
    return this.#media(kind, camelCased(objectIn(part, kind) ?? {}), `${at}.${kind}`)
  }

  #media(kind: 'inlineData' | 'fileData', value: Json, at: string): MediaPart[] {
    loseUnknown(value, `contents.parts.${kind}.`, this.#reading.losses)
    const name = textIn(value, 'displayName')
    if (kind === 'inlineData') {
      const mimeType = this.#reading.requiredText(value, 'mimeType', `${at}.`)
      const data = this.#reading.requiredText(value, 'data', `${at}.`)
      return [{ type: mediaKindOf(mimeType), mimeType, data, ...present({ name }) }]
    }
    const url = this.#reading.requiredText(value, 'fileUri', `${at}.`)
    if (!isPublic(url)) {
      this.#reading.refuse(`${at}.fileUri`, 'files that are kept upstream cannot be used')
    }
    const mimeType = textIn(value, 'mimeType') ?? mimeTypeOfName(url)
    return [{ type: mediaKindOf(mimeType ?? 'image/*'), url, ...present({ mimeType, name }) }]
  }
}

/** Clients give an answer back as they received it, piece by piece; it is one text. */
function addPiece(turn: Turn, piece: TextPart | ReasoningPart): void {
  if (piece.text === '') return
  const last = turn.parts.at(-1)
  const isMore =
    turn.role === 'assistant' && last?.type === piece.type && !('seal' in last && last.seal)
  if (isMore) turn.parts[turn.parts.length - 1] = { ...last, text: last.text + piece.text }
  else turn.parts.push(piece)
}

const unnamed = ({ itemId: _, ...seal }: Seal): Seal => seal

/** Not a file of the upstream's own store. */
const isPublic = (url: string): boolean =>
  /^https?:\/\//i.test(url) && !/\/v\d\w*\/files\//.test(url)

/** Where clients put the text of a result; beside it, some repeat the name of the tool. */
const resultFields = ['result', 'output', 'content']

/** What tools give by convention is their text; anything else is shown whole. */
function resultText(
  { name, ...rest }: Json,
  tool: string | undefined,
): { text: string; isError: boolean } {
  const response = name === undefined || name === tool ? rest : { name, ...rest }
  const [field, more] = Object.keys(response)
  const value = field === undefined ? '' : response[field]
  if (more === undefined && field === 'error') {
    return { text: typeof value === 'string' ? value : JSON.stringify(value), isError: true }
  }
  const isPlain = more === undefined && (field === undefined || resultFields.includes(field))
  if (isPlain && typeof value === 'string') return { text: value, isError: false }
  return { text: JSON.stringify(name === undefined ? response : { name, ...rest }), isError: false }
}
