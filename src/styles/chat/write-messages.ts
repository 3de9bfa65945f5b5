// Turns of a conversation as chat messages. Results come before everything else that the user says;
// media in them, which this style has no place for, come after them.

import type { Refusal } from '../../contract/errors.ts'
import type {
  Conversation,
  Json,
  MediaPart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../common/conversation.ts'
import { dataUrlOf, documentText, fileNameOf } from '../common/data-url.ts'
import { wrapInput } from '../common/free-form.ts'
import { type Losses, notCarried } from '../common/losses.ts'
import { present } from '../common/request-reading.ts'
import type { Target } from '../common/style.ts'
import { allowedName, type ToolNames } from '../common/tool-names.ts'
import { extraContent } from './call-seal.ts'

/** Upstreams of this style take ids of any letters. */
const callId = /^.{1,64}$/s
/** Of a tool, in a text for the model. */
const maxShownName = 64

export class MessageWriter {
  problem: Refusal | undefined
  readonly messages: Json[] = []
  readonly #fieldNames: Conversation['fieldNames']
  readonly #target: Target
  readonly #names: ToolNames
  readonly #losses: Losses
  /** The names of the tools of all calls so far, by id. */
  readonly #called = new Map<string, string>()

  constructor({ fieldNames }: Conversation, target: Target, names: ToolNames, losses: Losses) {
    this.#fieldNames = fieldNames
    this.#target = target
    this.#names = names
    this.#losses = losses
  }

  system(parts: readonly TextPart[]): void {
    if (parts.length === 0) return
    const isMarked = parts.some(({ cache }) => cache !== undefined)
    const content =
      isMarked && this.#target.settings.cacheControl
        ? parts.map((part) => this.#text(part))
        : parts.map((part) => this.#unmarked(part).text).join('\n\n')
    this.messages.push({ role: 'system', content })
  }

  turn({ role, parts }: Turn): void {
    if (role === 'assistant') this.#assistant(parts)
    else if (role === 'system') this.system(parts.filter((part) => part.type === 'text'))
    else this.#user(parts)
  }

  #user(parts: readonly Part[]): void {
    const content: Json[] = []
    for (const part of parts) if (part.type === 'result') this.#result(part, content)
    for (const part of parts) {
      if (part.type === 'text') content.push(this.#text(part))
      else if (isMedia(part)) this.#addMedia(part, content)
      else if (part.type === 'refusal') content.push({ type: 'text', text: part.text })
    }
    if (content.length > 0) this.messages.push({ role: 'user', content: plainest(content) })
  }

  #addMedia(part: MediaPart, content: Json[]): void {
    const media = this.#media(part)
    if (media !== undefined) content.push(media)
  }

  /** `content`: of the message of the user that follows, which gets the media of the result. */
  #result(part: ToolResultPart, content: Json[]): void {
    const { callId: id, name, parts, isError, cache } = part
    if (cache !== undefined) this.#losses.add(this.#fieldNames.cache)
    if (isError && !part.isMade) this.#losses.add(this.#fieldNames.isError)
    let media = 0
    const texts = parts.map((each) => {
      if (each.type === 'text') return this.#unmarked(each).text
      if (each.text !== undefined) return this.#documentText(each)
      this.#addMedia(each, content)
      // Said once for each file: a long name must not be.
      const tool = (this.#called.get(id) ?? name ?? 'the tool').slice(0, maxShownName)
      return `[${each.type} ${++media} of the result of ${tool} follows]`
    })
    if (media > 0) this.#losses.add(this.#fieldNames.result)
    const text = texts.join('\n')
    this.messages.push({
      role: 'tool',
      tool_call_id: allowedName(id, callId),
      content: isError ? `[error] ${text}` : text,
    })
  }

  #assistant(parts: readonly Part[]): void {
    const texts: string[] = []
    const calls: Json[] = []
    const reasoning: string[] = []
    let details: unknown
    for (const part of parts) {
      const isText = part.type === 'text' || part.type === 'refusal'
      // This style has the text of a turn before its calls.
      if (isText && calls.length > 0) this.#losses.add(this.#fieldNames.turns)
      if (part.type === 'text') texts.push(this.#unmarked(part).text)
      else if (part.type === 'refusal') {
        this.#losses.add(this.#fieldNames.refusal)
        texts.push(part.text)
      } else if (part.type === 'call') calls.push(this.#call(part))
      else if (part.type === 'reasoning') {
        const isOwn = part.seal?.realm === this.#target.realm
        if (this.#target.settings.replayReasoning) reasoning.push(part.text)
        else if (!isOwn) this.#losses.add(this.#fieldNames.reasoning)
        if (isOwn && part.seal) details ??= detailsOf(part.seal.data)
      } else this.#refuse(part)
    }
    const { replayReasoning } = this.#target.settings
    const text = reasoning.filter((each) => each !== '').join('\n\n')
    if (texts.length === 0 && calls.length === 0 && text === '') return
    this.messages.push({
      role: 'assistant',
      content: texts.join('\n\n'),
      ...(replayReasoning && (text !== '' || calls.length > 0) && { reasoning_content: text }),
      ...(details !== undefined && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
    })
  }

  #call(part: ToolCallPart): Json {
    const { id: given, name, freeForm, input, cache, seal } = part
    if (cache !== undefined) this.#losses.add(this.#fieldNames.cache)
    const isOwn = seal?.realm === this.#target.realm
    if (seal !== undefined && !isOwn) this.#losses.add(this.#fieldNames.reasoning)
    const sent = this.#names.upstream(part)
    this.#called.set(given, name)
    const id = allowedName(given, callId)
    if (freeForm && this.#target.settings.freeFormTools) {
      return { id, type: 'custom', custom: { name: sent, input } }
    }
    const made = { name: sent, arguments: freeForm ? wrapInput(input) : input || '{}' }
    return { id, type: 'function', function: made, ...(isOwn && extraContent(seal.data)) }
  }

  #text(part: TextPart): Json {
    const { cacheControl } = this.#target.settings
    if (part.cache === undefined || !cacheControl) {
      return { type: 'text', text: this.#unmarked(part).text }
    }
    return { type: 'text', text: part.text, cache_control: { type: 'ephemeral', ...part.cache } }
  }

  #unmarked(part: TextPart): TextPart {
    if (part.cache !== undefined) this.#losses.add(this.#fieldNames.cache)
    return part
  }

  #refuse({ type }: Part): void {
    const why = `a part of the type '${type}' has no place in an answer of its upstream`
    this.problem ??= notCarried(this.#fieldNames.turns, why)
  }

  #media(part: MediaPart): Json | undefined {
    const { settings } = this.#target
    const name = this.#fieldNames[part.type]
    const { cache } = part
    if (cache !== undefined && !settings.cacheControl) this.#losses.add(this.#fieldNames.cache)
    const mark =
      cache && settings.cacheControl ? { cache_control: { type: 'ephemeral', ...cache } } : {}
    if (part.url !== undefined && (!settings.mediaUrls || part.type === 'document')) {
      this.problem ??= notCarried(name, 'its upstream takes the file itself only, not its URL')
      return undefined
    }
    if (part.type === 'image') {
      const { detail } = part
      const image = { url: dataUrlOf(part), ...present({ detail }) }
      return { type: 'image_url', image_url: image, ...mark }
    }
    if (part.type === 'video')
      return { type: 'video_url', video_url: { url: dataUrlOf(part) }, ...mark }
    if (part.type === 'audio') return this.#audio(part)
    return this.#document(part, mark)
  }

  #audio(part: MediaPart): Json | undefined {
    if (part.data === undefined) {
      this.problem ??= notCarried(this.#fieldNames.audio, 'its upstream takes no URL of audio')
      return undefined
    }
    const format = part.mimeType?.replace(/^audio\/(?:x-)?/, '').replace('mpeg', 'mp3') ?? 'wav'
    return { type: 'input_audio', input_audio: { data: part.data, format } }
  }

  #documentText(part: MediaPart): string {
    this.#losses.add(this.#fieldNames.document)
    return documentText(part)
  }

  #document(part: MediaPart, mark: Json): Json | undefined {
    const name = this.#fieldNames.document
    if (part.text !== undefined) {
      return { type: 'text', text: this.#documentText(part), ...mark }
    }
    if (!this.#target.settings.documents) {
      this.problem ??= notCarried(name, 'its upstream takes no documents')
      return undefined
    }
    return {
      type: 'file',
      file: { filename: fileNameOf(part), file_data: dataUrlOf(part) },
      ...mark,
    }
  }
}

const isMedia = (part: Part): part is MediaPart =>
  part.type === 'image' ||
  part.type === 'document' ||
  part.type === 'audio' ||
  part.type === 'video'

/** Many upstreams read content as a string only; one unmarked text needs no more. */
function plainest(content: readonly Json[]): unknown {
  const [only] = content
  const isPlain =
    content.length === 1 && only?.['type'] === 'text' && only['cache_control'] === undefined
  return isPlain ? only['text'] : content
}

/** A list that an upstream of this style gave with its reasoning. */
function detailsOf(data: string): unknown {
  if (!data.startsWith('[')) return undefined
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
