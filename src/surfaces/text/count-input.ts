// How large the input of a call is: a rough count of its tokens, and what bounds them. Reads the
// content shapes of all text styles; a shape it does not know leaves the size open. Notes what may
// not be asked for on its way.

import { type Refusal, unknownObject } from '../../contract/errors.ts'
import type { InputBound, ServerTool } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import type { Fields } from '../common/fields.ts'
import { type ClientTools, hasFile, noFile, toolProblem } from './refuse-extras.ts'

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
    return this
  }

  /** What is kept upstream may have any size. */
  open(isOpen = true): this {
    if (isOpen) this.#isOpen = true
    return this
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
    // Some upstreams read a whole file where a text begins like this.
    if (text.startsWith('fileid://')) this.problem ??= noFile
  }

  #json(value: unknown): void {
    this.tokens += countTokens(JSON.stringify(value))
  }

  #message(message: Fields): void {
    const { content, role, tool_calls: calls, attachments, audio, tools } = message
    this.content(content)
    if (calls != null) this.#json(calls)
    if (attachments != null && hasFile(attachments)) this.problem ??= noFile
    if (isObject(audio) && audio['id'] != null) this.problem ??= unknownObject('audio.id')
    if (tools != null) this.tools(tools, 'input.tools')
    if (content === undefined && role === undefined) this.#item(message)
  }

  /** An item of a list of input that is no message: a call of a tool, its result, a reference. */
  #item(item: Fields): void {
    const { type, output, arguments: given, summary } = item
    if (!textItems.has(type)) this.#unknown(item)
    this.content(output).content(given).content(summary)
  }

  #part(part: unknown): void {
    if (typeof part === 'string') this.#text(part)
    if (!isObject(part)) return
    const { text, type, content, thinking, input } = part
    if (images.has(type)) this.#image(part)
    else if (!textParts.has(type) && !isPlainDocument(part)) this.#unknown(part, perMedia)
    else if (typeof text === 'string') this.#text(text)
    else if (typeof thinking === 'string') this.#text(thinking)
    else if (content !== undefined) this.content(content)
    else if (input !== undefined) this.#json(input)
    else this.#json(part)
  }

  #unknown(part: Fields, tokens = 0): void {
    this.tokens += tokens
    this.#isOpen = true
    if (hasFile(part)) this.problem ??= noFile
    if (part['tools'] != null) this.tools(part['tools'], 'content.tools')
  }

  /** By address or inline; what is neither, such as a file kept upstream, is of any size. */
  #image(part: Fields): void {
    const { image_url: held, source } = part
    if (hasFile(part)) this.problem ??= noFile
    this.tokens += perMedia
    this.#images++
    const url = isObject(held) ? held['url'] : held
    if (typeof url === 'string') {
      if (inlineImage.test(url)) this.#imageBytes += url.length
      else if (!address.test(url)) this.#isOpen = true
    } else if (isObject(source)) this.#source(source)
    else this.#isOpen = true
  }

  #source({ type, media_type: media, data, url }: Fields): void {
    const isImage = typeof media === 'string' && media.startsWith('image/')
    if (type === 'base64' && isImage && typeof data === 'string') this.#imageBytes += data.length
    else if (type !== 'url' || typeof url !== 'string') this.#isOpen = true
  }
}

const inlineImage = /^data:image\/[\w.+-]+;base64,/i
const address = /^https?:/i
const images = new Set<unknown>(['image_url', 'input_image', 'image', 'computer_screenshot'])

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

/** A document that is nothing but text, or a bare text. */
function isPlainDocument({ type, text, source }: Fields): boolean {
  if (type === undefined) return typeof text === 'string'
  return type === 'document' && isObject(source) && source['type'] === 'text'
}
