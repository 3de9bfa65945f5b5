// Turns of a conversation as the items of a responses request.
import type { Refusal } from '../../contract/errors.ts'
import type {
  Conversation,
  Json,
  MediaPart,
  Part,
  ReasoningPart,
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

const callId = /^[a-zA-Z0-9_-]{1,64}$/
/** More marks than an upstream takes: the last ones hold the longest prefixes. */
const maxCacheMarks = 4

export class ItemWriter {
  problem: Refusal | undefined
  readonly items: Json[] = []
  readonly #names: Conversation['fieldNames']
  readonly #target: Target
  readonly #toolNames: ToolNames
  readonly #losses: Losses
  /** Ids of calls whose input is free text. */
  readonly #freeForm = new Set<string>()
  /** Marks that come before the last ones. */
  #surplusMarks: number

  constructor(conversation: Conversation, target: Target, toolNames: ToolNames, losses: Losses) {
    this.#names = conversation.fieldNames
    this.#target = target
    this.#toolNames = toolNames
    this.#losses = losses
    this.#surplusMarks = marksIn(conversation) - maxCacheMarks
  }

  system(parts: readonly TextPart[]): void {
    if (parts.length > 0) this.#message('developer', this.#contents(parts))
  }

  /** A turn of the assistant becomes several items, in its order. */
  turn({ role, parts }: Turn): void {
    if (role === 'system') {
      this.system(parts.filter((part) => part.type === 'text'))
      return
    }
    let content: Json[] = []
    const flush = () => {
      if (content.length > 0) this.#message(role, content)
      content = []
    }
    for (const part of parts) {
      if (part.type === 'call' || part.type === 'result' || part.type === 'reasoning') {
        flush()
        this.#item(part)
      } else if (role === 'assistant') content.push(...this.#output(part))
      else content.push(...this.#contents([part]))
    }
    flush()
  }

  #message(role: string, content: readonly Json[]): void {
    this.items.push({ type: 'message', role, content })
  }

  #item(part: ToolCallPart | ToolResultPart | ReasoningPart): void {
    if (part.type === 'call') this.#call(part)
    else if (part.type === 'result') this.#result(part)
    else this.#reasoning(part)
  }

  /** Only what the upstream sealed itself means anything to it; its text is inside. */
  #reasoning({ seal }: ReasoningPart): void {
    if (seal === undefined || seal.realm !== this.#target.realm) {
      this.#losses.add(this.#names.reasoning)
      return
    }
    const { itemId, data } = seal
    this.items.push({
      type: 'reasoning',
      ...(itemId !== undefined && { id: itemId }),
      summary: [],
      encrypted_content: data,
    })
  }

  #call(part: ToolCallPart): void {
    if (part.cache !== undefined) this.#losses.add(this.#names.cache)
    if (part.seal !== undefined) this.#losses.add(this.#names.reasoning)
    const call_id = allowedName(part.id, callId)
    const name = this.#toolNames.upstream(part)
    if (part.freeForm && this.#target.settings.freeFormTools) {
      this.#freeForm.add(part.id)
      this.items.push({ type: 'custom_tool_call', call_id, name, input: part.input })
    } else {
      const text = part.freeForm ? wrapInput(part.input) : part.input
      this.items.push({ type: 'function_call', call_id, name, arguments: text })
    }
  }

  #result({ callId: id, parts, isError, cache, isMade }: ToolResultPart): void {
    if (isError && !isMade) this.#losses.add(this.#names.isError)
    const marked = isError ? withErrorMark(parts) : parts
    const type = this.#freeForm.has(id) ? 'custom_tool_call_output' : 'function_call_output'
    const isText = marked.every((part) => part.type === 'text')
    if (cache !== undefined || (isText && marked.some(isMarked)))
      this.#losses.add(this.#names.cache)
    const output = isText ? marked.map((part) => part.text).join('\n') : this.#contents(marked)
    this.items.push({ type, call_id: allowedName(id, callId), output })
  }

  #output(part: Part): Json[] {
    if (part.type === 'text') {
      this.#mark(part, false)
      return [{ type: 'output_text', text: part.text }]
    }
    if (part.type === 'refusal') return [{ type: 'refusal', refusal: part.text }]
    this.#refuse(part, 'a turn of the assistant cannot hold it')
    return []
  }

  #contents(parts: readonly Part[]): Json[] {
    return parts.flatMap((part) => {
      const content = this.#content(part)
      if (content === undefined) return []
      const mark = 'cache' in part ? this.#mark(part, true) : {}
      return [{ ...content, ...mark }]
    })
  }

  #content(part: Part): Json | undefined {
    switch (part.type) {
      case 'text':
        return { type: 'input_text', text: part.text }
      case 'refusal':
        this.#losses.add(this.#names.refusal)
        return { type: 'input_text', text: part.text }
      case 'image':
        return this.#image(part)
      case 'document':
        return this.#document(part)
      default:
        this.#refuse(part, 'its upstream takes none')
        return undefined
    }
  }

  #image(part: MediaPart): Json | undefined {
    if (!this.#canFetch(part)) return undefined
    return { type: 'input_image', image_url: dataUrlOf(part), detail: part.detail ?? 'auto' }
  }

  /** A text document is text to every model. */
  #document(part: MediaPart): Json | undefined {
    if (part.text !== undefined) {
      this.#losses.add(this.#names.document)
      return { type: 'input_text', text: documentText(part) }
    }
    if (!this.#target.settings.documents) return this.#refuse(part, 'its upstream takes none')
    if (!this.#canFetch(part)) return undefined
    const { url, name: filename } = part
    if (url !== undefined) return { type: 'input_file', file_url: url, ...present({ filename }) }
    return { type: 'input_file', filename: fileNameOf(part), file_data: dataUrlOf(part) }
  }

  #canFetch(part: MediaPart): boolean {
    if (part.url === undefined || this.#target.settings.mediaUrls) return true
    this.#refuse(part, 'its upstream does not fetch URLs')
    return false
  }

  #refuse({ type }: Part, why: string): undefined {
    const name = type === 'call' || type === 'text' ? 'turns' : type
    this.problem ??= notCarried(this.#names[name], why)
  }

  #mark({ cache }: { cache?: { ttl?: string } }, hasPlace: boolean): Json {
    if (cache === undefined) return {}
    const isSurplus = this.#surplusMarks-- > 0
    if (!this.#target.settings.cacheControl || !hasPlace || isSurplus) {
      this.#losses.add(this.#names.cache)
      return {}
    }
    if (cache.ttl !== undefined) this.#losses.add(`${this.#names.cache}.ttl`)
    return { prompt_cache_breakpoint: { mode: 'explicit' } }
  }
}

const isMarked = (part: object): boolean => 'cache' in part && part.cache !== undefined

const marksIn = ({ system, turns }: Conversation): number =>
  [...system, ...turns.flatMap(({ parts }) => parts)].filter(isMarked).length

function withErrorMark(parts: ToolResultPart['parts']): ToolResultPart['parts'] {
  const [first, ...rest] = parts
  if (first?.type !== 'text') return [{ type: 'text', text: '[error]' }, ...parts]
  return [{ ...first, text: `[error] ${first.text}` }, ...rest]
}
