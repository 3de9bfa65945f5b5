// The items of a response for the caller: each collects one block and tells its events.
import { quoted } from '../../lib/json/plain-text.ts'
import type { Block, CallHead, Citation } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import { inputObject } from '../common/exact-json.ts'

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** An event without its number; a frequent one with its fields as JSON, without braces. */
export type ItemEvent = readonly [type: string, fields: Json | string]

export interface WrittenItem {
  readonly id: string
  /** As it is now: a copy that does not grow. */
  view(status: ItemStatus): Json
  /** Behind `output_item.added`. */
  opened(): ItemEvent[]
  piece(text: string): ItemEvent[]
  cite?(citation: Citation): ItemEvent[]
  envelope?: string
  /** Before `output_item.done`. */
  closed(): ItemEvent[]
}

/** `at` names the item in its events. */
interface Place {
  item_id: string
  output_index: number
}

/** What the caller's request says about its items. */
interface ItemSettings {
  /** Of a refusal: the caller does not know them. */
  asText: boolean
  isSearch(call: CallHead): boolean
}

export function newItem(
  block: Block,
  key: string,
  index: number,
  { asText, isSearch }: ItemSettings,
): WrittenItem {
  switch (block.kind) {
    case 'text':
      return new TextItem(key, index)
    case 'refusal':
      return asText ? new TextItem(key, index) : new RefusalItem(key, index)
    case 'reasoning':
      return new ReasoningItem(key, index)
    case 'call':
      return isSearch(block.call)
        ? new SearchItem(block.call, key)
        : new CallItem(block.call, key, index)
  }
}

/** The fields of every event of an item, and a comma. */
const startOf = (at: Place): string => `${JSON.stringify(at).slice(1, -1)},`

const messageView = (id: string, status: ItemStatus, content: readonly Json[]): Json => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
})

class TextItem implements WrittenItem {
  readonly id: string
  readonly #at: Place & { content_index: number }
  readonly #start: string
  #text = ''
  #isOpen = false
  readonly #annotations: Json[] = []

  constructor(key: string, index: number) {
    this.id = `msg_${key}`
    this.#at = { item_id: this.id, output_index: index, content_index: 0 }
    this.#start = startOf(this.#at)
  }

  #part(): Json {
    const annotations = [...this.#annotations]
    return { type: 'output_text', text: this.#text, annotations, logprobs: [] }
  }

  view(status: ItemStatus): Json {
    return messageView(this.id, status, this.#isOpen ? [this.#part()] : [])
  }

  opened(): ItemEvent[] {
    this.#isOpen = true
    return [['response.content_part.added', { ...this.#at, part: this.#part() }]]
  }

  piece(text: string): ItemEvent[] {
    this.#text += text
    const fields = `${this.#start}"delta":${quoted(text)},"logprobs":[]`
    return [['response.output_text.delta', fields]]
  }

  cite({ url, title, start, end }: Citation): ItemEvent[] {
    const annotation: Json = {
      type: 'url_citation',
      url,
      title: title ?? url,
      start_index: start ?? this.#text.length,
      end_index: end ?? this.#text.length,
    }
    const annotation_index = this.#annotations.push(annotation) - 1
    const type = 'response.output_text.annotation.added'
    return [[type, { ...this.#at, annotation_index, annotation }]]
  }

  closed(): ItemEvent[] {
    return [
      ['response.output_text.done', { ...this.#at, text: this.#text, logprobs: [] }],
      ['response.content_part.done', { ...this.#at, part: this.#part() }],
    ]
  }
}

class RefusalItem implements WrittenItem {
  readonly id: string
  readonly #at: Place & { content_index: number }
  #text = ''
  #isOpen = false

  constructor(key: string, index: number) {
    this.id = `msg_${key}`
    this.#at = { item_id: this.id, output_index: index, content_index: 0 }
  }

  #part(): Json {
    return { type: 'refusal', refusal: this.#text }
  }

  view(status: ItemStatus): Json {
    return messageView(this.id, status, this.#isOpen ? [this.#part()] : [])
  }

  opened(): ItemEvent[] {
    this.#isOpen = true
    return [['response.content_part.added', { ...this.#at, part: this.#part() }]]
  }

  piece(text: string): ItemEvent[] {
    this.#text += text
    return [['response.refusal.delta', { ...this.#at, delta: text }]]
  }

  closed(): ItemEvent[] {
    return [
      ['response.refusal.done', { ...this.#at, refusal: this.#text }],
      ['response.content_part.done', { ...this.#at, part: this.#part() }],
    ]
  }
}

/** One summary; none where there is no text. */
class ReasoningItem implements WrittenItem {
  readonly id: string
  envelope?: string
  readonly #at: Place & { summary_index: number }
  readonly #start: string
  #text = ''

  constructor(key: string, index: number) {
    this.id = `rs_${key}`
    this.#at = { item_id: this.id, output_index: index, summary_index: 0 }
    this.#start = startOf(this.#at)
  }

  #part(): Json {
    return { type: 'summary_text', text: this.#text }
  }

  view(): Json {
    return {
      id: this.id,
      type: 'reasoning',
      summary: this.#text === '' ? [] : [this.#part()],
      ...(this.envelope !== undefined && { encrypted_content: this.envelope }),
    }
  }

  opened(): ItemEvent[] {
    return []
  }

  piece(text: string): ItemEvent[] {
    const fields = `${this.#start}"delta":${quoted(text)}`
    const delta: ItemEvent = ['response.reasoning_summary_text.delta', fields]
    if (this.#text !== '') {
      this.#text += text
      return [delta]
    }
    const part = this.#part()
    this.#text = text
    return [['response.reasoning_summary_part.added', { ...this.#at, part }], delta]
  }

  closed(): ItemEvent[] {
    if (this.#text === '') return []
    return [
      ['response.reasoning_summary_text.done', { ...this.#at, text: this.#text }],
      ['response.reasoning_summary_part.done', { ...this.#at, part: this.#part() }],
    ]
  }
}

/** Its arguments are an object, which comes as a whole. */
class SearchItem implements WrittenItem {
  readonly id: string
  readonly #call: CallHead
  #input = ''

  constructor(call: CallHead, key: string) {
    this.id = `tsc_${key}`
    this.#call = call
  }

  view(status: ItemStatus): Json {
    return {
      id: this.id,
      type: 'tool_search_call',
      status,
      call_id: this.#call.id,
      execution: 'client',
      arguments: status === 'in_progress' ? {} : inputObject(this.#input).input,
    }
  }

  opened(): ItemEvent[] {
    return []
  }

  piece(text: string): ItemEvent[] {
    this.#input += text
    return []
  }

  closed(): ItemEvent[] {
    return []
  }
}

class CallItem implements WrittenItem {
  readonly id: string
  readonly #call: CallHead
  readonly #at: Place
  readonly #start: string
  /** Names of the item, of its events, and of its input. */
  readonly #type: string
  readonly #events: string
  readonly #field: string
  #input = ''

  constructor(call: CallHead, key: string, index: number) {
    const { freeForm } = call
    this.id = freeForm ? `ctc_${key}` : `fc_${key}`
    this.#call = call
    this.#at = { item_id: this.id, output_index: index }
    this.#start = startOf(this.#at)
    this.#type = freeForm ? 'custom_tool_call' : 'function_call'
    this.#events = freeForm ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    this.#field = freeForm ? 'input' : 'arguments'
  }

  view(status: ItemStatus): Json {
    const { id, name, namespace } = this.#call
    return {
      id: this.id,
      type: this.#type,
      status,
      call_id: id,
      name,
      ...(namespace !== undefined && { namespace }),
      [this.#field]: this.#input,
    }
  }

  opened(): ItemEvent[] {
    return []
  }

  piece(text: string): ItemEvent[] {
    this.#input += text
    return [[`${this.#events}.delta`, `${this.#start}"delta":${quoted(text)}`]]
  }

  closed(): ItemEvent[] {
    const { name } = this.#call
    const fields = { ...this.#at, [this.#field]: this.#input, name }
    return [[`${this.#events}.done`, fields]]
  }
}
