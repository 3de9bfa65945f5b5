// How large the input of a call is: a rough count of its tokens, and what bounds them. Reads the
// content shapes of all text styles; a shape it does not know leaves the size open. Notes what may
// not be asked for on its way.

import type { Refusal } from '../../contract/errors.ts'
import type { InputBound, ServerTool } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import type { Fields } from '../common/fields.ts'
import { hasHourCache, isHourCache } from './extra-fields.ts'
import {
  type ClientTools,
  foreignField,
  foreignIn,
  isAddress,
  isKeptUpstream,
  namesFile,
  noFile,
  toolProblem,
} from './refuse-extras.ts'

/** What a message costs besides its words. */
const perMessage = 8
/** An image costs hundreds to a few thousand tokens whatever its bytes are. */
const perMedia = 2_048

/** Upstreams wrap what they are given in a template. A token never has less than one byte. */
export const templateTokens = { perCall: 64, perMessage: 16, perImage: 16, withTools: 1_024 }

/** Adds up the parts of one input. */
export class InputCounter {
  /** A rough count. */
  tokens = 0
  #messages = 0
  #images = 0
  /** Of images that came along: they are no text. */
  #imageBytes = 0
  #isOpen = false
  #tools = false
  readonly #clientTools: ClientTools
  /** The first thing in it that may not be asked for. */
  problem: Refusal | undefined
  /** Parts of it are to stay in the upstream's cache for an hour. */
  hourCache = false
  /** Those that the upstream would run. */
  readonly serverTools: ServerTool[] = []

  constructor(clientTools: ClientTools) {
    this.#clientTools = clientTools
  }

  messages(messages: readonly unknown[]): this {
    for (const message of messages) {
      this.#messages++
      this.tokens += perMessage
      if (typeof message === 'string') this.#text(message)
      else if (isObject(message)) this.#message(message)
    }
    return this
  }

  /** A text, or a list of parts. */
  content(content: unknown): this {
    if (typeof content === 'string') this.#text(content)
    else if (Array.isArray(content)) for (const part of content) this.#part(part)
    else if (isObject(content)) this.#part(content)
    return this
  }

  /** Tools and other structures that the model reads as JSON. */
  tools(tools: unknown, at = 'tools'): this {
    if (tools == null) return this
    this.#tools = true
    this.#json(tools)
    this.problem ??= toolProblem(tools, this.#clientTools, this.serverTools, at)
    if (hasHourCache(tools)) this.hourCache = true
    return this
  }

  /** What is kept upstream may have any size. */
  open(): void {
    this.#isOpen = true
  }

  /** `body` is all that goes upstream, so that no text of it is missed. */
  bound(body: string): InputBound {
    const { perCall, perMessage, perImage, withTools } = templateTokens
    const wrapped =
      perCall +
      this.#messages * perMessage +
      this.#images * perImage +
      (this.#tools ? withTools : 0)
    const textBytes = Math.max(0, Buffer.byteLength(body) - this.#imageBytes)
    return {
      maxTextTokens: textBytes + wrapped,
      images: this.#images,
      isOpen: this.#isOpen,
      inputs: 1,
    }
  }

  #text(text: string): void {
    this.tokens += countTokens(text)
    if (namesFile(text)) this.problem ??= noFile
  }

  #json(value: unknown): void {
    this.tokens += countTokens(JSON.stringify(value))
  }

  /** A message, or an item of a list of input: a call of a tool, its result, a reference. */
  #message(message: Fields): void {
    const { content, role, type } = message
    if (content === undefined && role === undefined && !textItems.has(type)) this.#isOpen = true
    this.#fields(message, 'input')
  }

  #part(part: unknown): void {
    if (typeof part === 'string') this.#text(part)
    if (!isObject(part)) return
    const { type } = part
    if (images.has(type)) this.#image(part)
    else if (!textParts.has(type) && !isPlain(part)) {
      this.tokens += perMedia
      this.#isOpen = true
    }
    this.#fields(part)
  }

  /**
   * By the names of its fields alone, however deep they lie: whatever its type or another field says,
   * all of it goes upstream.
   */
  #fields(holder: Fields, at = 'content'): void {
    for (const name in holder) {
      const held = holder[name]
      if (held == null) continue
      switch (readers[name]) {
        case 'mark':
          break
        case 'text':
          this.content(held)
          break
        case 'own':
          if (typeof held === 'string') this.#text(held)
          else this.#json(held)
          break
        case 'calls':
          this.#json(held)
          this.problem ??= foreignIn(held)
          break
        case 'cited':
          this.problem ??= foreignIn(held)
          break
        case 'media':
          this.problem ??= foreignField(name, held)
          this.#media(held)
          break
        case 'image':
          if (!images.has(holder['type'])) this.#source(holder, held)
          break
        case 'cache':
          if (isHourCache(held)) this.hourCache = true
          break
        case 'tools':
          this.tools(held, `${at}.tools`)
          break
        default:
          this.#unknown(name, held)
      }
    }
  }

  #unknown(name: string, value: unknown): void {
    this.problem ??= foreignField(name, value)
    if (typeof value === 'string') {
      if (isAddress(value)) this.#isOpen = true
    } else if (Array.isArray(value)) for (const each of value) this.#unknown('', each)
    else if (isObject(value)) this.#fields(value)
  }

  /** Sound, videos and documents may be of any length. */
  #media(held: unknown): void {
    this.#isOpen = true
    this.problem ??= foreignIn(held)
  }

  /** By address or inline; what is neither, such as a file kept upstream, is of any size. */
  #image({ image_url: held, source }: Fields): void {
    this.tokens += perMedia
    if (held != null) this.#imageAt(isObject(held) ? held['url'] : held)
    if (isObject(source)) this.#imageFrom(source)
    if (held == null && !isObject(source)) {
      this.#images++
      this.#isOpen = true
    }
    this.problem ??= foreignIn(held) ?? foreignIn(source)
  }

  #imageAt(url: unknown): void {
    this.#images++
    if (typeof url === 'string' && inlineImage.test(url)) this.#imageBytes += url.length
    else if (typeof url !== 'string' || !address.test(url)) this.#isOpen = true
    if (typeof url === 'string' && isKeptUpstream(url)) this.problem ??= noFile
  }

  #imageFrom({ type, media_type: media, data, url }: Fields): void {
    const isImage = typeof media === 'string' && media.startsWith('image/')
    const isInline = type === 'base64' && isImage && typeof data === 'string'
    if (isInline) {
      this.#images++
      this.#imageBytes += data.length
    }
    if (url != null) this.#imageAt(url)
    else if (!isInline) {
      this.#images++
      this.#isOpen = true
    }
  }

  /** Of a document: a text, blocks, bytes or an address. Of anything else it says where it comes from. */
  #source({ type }: Fields, source: unknown): void {
    if (type === 'search_result' && typeof source === 'string') return
    if (!isObject(source)) {
      this.#media(source)
      return
    }
    const { type: form, data, content, ...rest } = source
    if (form !== 'text') this.#isOpen = true
    else if (typeof data === 'string') this.#text(data)
    this.content(content)
    this.#fields(rest)
  }
}

const inlineImage = /^data:image\/[\w.+-]+;base64,/i
const address = /^https?:/i
const images = new Set<unknown>(['image_url', 'input_image', 'image', 'computer_screenshot'])

type Reader = 'mark' | 'text' | 'own' | 'calls' | 'cited' | 'media' | 'image' | 'cache' | 'tools'

const readBy = (reader: Reader, ...names: readonly string[]): Record<string, Reader> =>
  Object.fromEntries(names.map((name) => [name, reader]))

/**
 * How a field of a message, an item or a part is read; `mark`: it has no size of its own; `own`: what a
 * tool is given and says, in the caller's own words; `cited`: what an answer says of its sources and the
 * like. Any other is searched for addresses and for these.
 */
const readers: Readonly<Record<string, Reader | undefined>> = {
  __proto__: null as never,
  ...readBy('mark', 'role', 'type', 'id', 'name', 'status', 'signature', 'encrypted_content'),
  ...readBy('mark', 'tool_use_id', 'tool_call_id', 'call_id', 'title', 'media_type'),
  ...readBy('text', 'content', 'text', 'thinking', 'output', 'summary', 'refusal'),
  ...readBy('text', 'reasoning_content', 'reasoning'),
  ...readBy('own', 'input', 'arguments'),
  ...readBy('calls', 'tool_calls', 'function_call'),
  ...readBy('cited', 'annotations', 'citations', 'logprobs', 'action', 'actions', 'sources'),
  ...readBy('cited', 'results', 'reasoning_details', 'thinking_blocks', 'metadata'),
  ...readBy('cited', 'extra_content', 'provider_metadata', 'provider_specific_fields'),
  ...readBy('media', 'file', 'file_data', 'file_url', 'file_uri', 'video', 'video_url', 'images'),
  ...readBy('media', 'audio', 'audio_url', 'input_audio', 'document', 'document_url', 'input_file'),
  ...readBy('media', 'attachments', 'inline_data', 'inlineData', 'fileData', 'image'),
  ...readBy('image', 'image_url', 'source'),
  ...readBy('cache', 'cache_control', 'cache_point', 'cachePoint'),
  ...readBy('tools', 'tools'),
}

/** Parts whose tokens are all in their text. A part without a type has to have one. */
const textParts = new Set<unknown>([
  'text',
  'input_text',
  'output_text',
  'summary_text',
  'reasoning_text',
  'refusal',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'search_result',
])

/** Items of the same kind. */
const textItems = new Set<unknown>([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'computer_call',
  'computer_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'reasoning',
  'compaction',
])

/** A document, whose source says what it is, or a bare text. */
function isPlain({ type, text, source }: Fields): boolean {
  if (type === undefined) return typeof text === 'string'
  return type === 'document' && isObject(source) && source['type'] === 'text'
}
