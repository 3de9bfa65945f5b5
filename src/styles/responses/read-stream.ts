// Reads an upstream's answer in the responses style: a stream of typed events, or the whole response,
// which is read like the last event of a stream that had no other.
import { isObject } from '../../lib/json/parse.ts'
import { numberIn, objectIn, objectsIn, textIn } from '../../lib/json/values.ts'
import type { Citation, Emit, StopReason, StreamReader } from '../common/answer.ts'
import { AnswerSequence, reportedError } from '../common/answer-sequence.ts'
import { answerUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { present } from '../common/request-reading.ts'
import type { ReadContext } from '../common/style.ts'
import { type AnswerItem, type ItemKind, ItemQueue } from './answer-items.ts'
import { readUsage } from './usage.ts'

const kinds: readonly string[] = ['message', 'reasoning', 'function_call', 'custom_tool_call']
const kindOf = (item: Json): ItemKind => {
  const type = item['type']
  return typeof type === 'string' && kinds.includes(type) ? (type as ItemKind) : 'other'
}

const begins = ['created', 'in_progress', 'queued']

/** Events that carry text: the kind of their item, the name of the part, and its number's field. */
const texts: Readonly<Record<string, readonly [kind: ItemKind, part: string, index: string]>> = {
  output_text: ['message', 'text', 'content_index'],
  refusal: ['message', 'refusal', 'content_index'],
  reasoning_summary_text: ['reasoning', 'summary', 'summary_index'],
  reasoning_text: ['reasoning', 'content', 'content_index'],
  function_call_arguments: ['function_call', 'input', ''],
  custom_tool_call_input: ['custom_tool_call', 'input', ''],
}

export class ResponsesReader implements StreamReader {
  readonly #context: ReadContext
  readonly #sequence = new AnswerSequence()
  readonly #queue: ItemQueue
  readonly #byId = new Map<string, AnswerItem>()
  readonly #byIndex = new Map<number, AnswerItem>()
  readonly continued = { text: 'delta', ignored: ['sequence_number', 'obfuscation'] }
  /** Of the last piece of text. */
  #item: AnswerItem | undefined
  #part = ''

  constructor(context: ReadContext) {
    this.#context = context
    this.#queue = new ItemQueue(this.#sequence, context.names)
  }

  read(data: Json, name: string | undefined, emit: Emit): void {
    this.#sequence.emit = emit
    const type = textIn(data, 'type') ?? name ?? ''
    if (isError(type, data)) this.#sequence.fail(reportedError(errorIn(data)))
    else if (type.startsWith('response.')) this.#event(type.slice('response.'.length), data)
  }

  more(text: string, emit: Emit): void {
    this.#sequence.emit = emit
    this.#item?.append(this.#part, text)
  }

  end(emit: Emit): void {
    this.#sequence.emit = emit
    if (this.#sequence.isOver) return
    this.#queue.finishAll()
    this.#sequence.finishVaguely(undefined)
  }

  #event(type: string, data: Json): void {
    if (type.endsWith('.delta')) this.#text(type, data)
    else if (type === 'output_item.added') this.#added(data)
    else if (type === 'output_item.done') this.#done(data)
    else if (type === 'output_text.annotation.added') this.#annotation(data)
    else if (type === 'completed' || type === 'incomplete') {
      this.#completed(type, objectIn(data, 'response') ?? {})
    } else if (begins.includes(type)) this.#begin(objectIn(data, 'response') ?? {})
    else this.#text(type, data)
  }

  #begin(response: Json): void {
    this.#queue.answerId ||= textIn(response, 'id') ?? ''
    this.#sequence.begin()
  }

  #text(type: string, data: Json): void {
    const at = type.lastIndexOf('.')
    const found = texts[type.slice(0, at)]
    if (found === undefined || !Object.hasOwn(texts, type.slice(0, at))) return
    const [kind, name, index] = found
    const part = index === '' ? name : `${name}:${numberIn(data, index) ?? 0}`
    const item = this.#find(kind, data)
    const end = type.slice(at + 1)
    if (end === 'delta') {
      this.#item = item
      this.#part = part
      item.append(part, textIn(data, 'delta') ?? '')
    } else if (end === 'done') item.complete(part, doneText(data))
  }

  /** Ids and indexes are not reliable everywhere: an id that is known counts more than an index. */
  #find(kind: ItemKind, data: Json): AnswerItem {
    const index = numberIn(data, 'output_index')
    const byId = this.#byId.get(textIn(data, 'item_id') ?? textIn(data, 'call_id') ?? '')
    if (byId?.kind === kind) return byId
    const byIndex = index === undefined ? undefined : this.#byIndex.get(index)
    return byIndex?.kind === kind ? byIndex : this.#add(kind, data, index)
  }

  #add(kind: ItemKind, names: Json, index: number | undefined): AnswerItem {
    this.#sequence.begin()
    const item = this.#queue.add(kind)
    for (const id of [textIn(names, 'item_id'), textIn(names, 'id'), textIn(names, 'call_id')]) {
      if (id) this.#byId.set(id, item)
    }
    if (index !== undefined) this.#byIndex.set(index, item)
    return item
  }

  #added(data: Json): void {
    const given = objectIn(data, 'item')
    if (given === undefined || this.#known(given) !== undefined) return
    const item = this.#add(kindOf(given), given, numberIn(data, 'output_index'))
    this.#openCall(item, given)
  }

  #known(given: Json): AnswerItem | undefined {
    const item =
      this.#byId.get(textIn(given, 'id') ?? '') ?? this.#byId.get(textIn(given, 'call_id') ?? '')
    return item?.kind === kindOf(given) ? item : undefined
  }

  #openCall(item: AnswerItem, given: Json): void {
    const id = textIn(given, 'call_id') || textIn(given, 'id')
    if (id) item.callId ??= id
    item.name ||= textIn(given, 'name')
    item.openCall()
  }

  #done(data: Json): void {
    const given = objectIn(data, 'item')
    if (given !== undefined) this.#complete(given, numberIn(data, 'output_index'))
  }

  /** All of an item; what was received of it before does not come again. */
  #complete(given: Json, index: number | undefined): void {
    const kind = kindOf(given)
    const byIndex = index === undefined ? undefined : this.#byIndex.get(index)
    const known = this.#known(given) ?? (byIndex?.kind === kind ? byIndex : undefined)
    const item = known ?? this.#add(kind, given, index)
    if (item.isDone) return
    if (kind === 'message') this.#completeMessage(item, given)
    else if (kind === 'reasoning') this.#completeReasoning(item, given)
    else if (kind !== 'other') {
      this.#openCall(item, given)
      item.complete('input', inputText(given[kind === 'function_call' ? 'arguments' : 'input']))
    }
    item.finish()
  }

  #completeMessage(item: AnswerItem, given: Json): void {
    const { hasCitations } = item
    for (const [index, part] of objectsIn(given, 'content').entries()) {
      const isRefusal = part['type'] === 'refusal'
      const text = textIn(part, isRefusal ? 'refusal' : 'text') ?? ''
      item.complete(`${isRefusal ? 'refusal' : 'text'}:${index}`, text)
      if (hasCitations) continue
      const citations = objectsIn(part, 'annotations').flatMap((each) => citationOf(each) ?? [])
      for (const citation of citations) item.cite(citation)
    }
  }

  /** A summary, or the reasoning itself: one of them, as it was received. */
  #completeReasoning(item: AnswerItem, given: Json): void {
    const summary = objectsIn(given, 'summary')
    const useContent = item.hasPart('content:0') || (!item.hasText && summary.length === 0)
    const [family, parts] = useContent
      ? (['content', objectsIn(given, 'content')] as const)
      : (['summary', summary] as const)
    for (const [index, part] of parts.entries()) {
      item.complete(`${family}:${index}`, textIn(part, 'text') ?? '')
    }
    const data = textIn(given, 'encrypted_content')
    if (!data) return
    const itemId = textIn(given, 'id')
    item.seal({ realm: this.#context.realm, data, ...present({ itemId }) })
  }

  #annotation(data: Json): void {
    const citation = citationOf(objectIn(data, 'annotation') ?? {})
    if (citation !== undefined) this.#find('message', data).cite(citation)
  }

  #completed(type: 'completed' | 'incomplete', response: Json): void {
    this.#queue.answerId ||= textIn(response, 'id') ?? ''
    for (const [index, item] of objectsIn(response, 'output').entries()) this.#complete(item, index)
    this.#queue.finishAll()
    const usage = answerUsage(readUsage(response['usage']))
    this.#sequence.finish({ reason: reasonOf(type, response) }, usage)
  }
}

const inputText = (value: unknown): string =>
  typeof value === 'string' ? value : isObject(value) ? JSON.stringify(value) : ''

const doneText = (data: Json): string =>
  textIn(data, 'text') ?? textIn(data, 'refusal') ?? inputText(data['arguments'] ?? data['input'])

const reasons: Readonly<Record<string, StopReason>> = {
  max_output_tokens: 'length',
  max_tokens: 'length',
  content_filter: 'filtered',
}

function reasonOf(type: 'completed' | 'incomplete', response: Json): StopReason | undefined {
  const details = objectIn(response, 'incomplete_details')
  const reason = details === undefined ? undefined : textIn(details, 'reason')
  if (reason !== undefined) return Object.hasOwn(reasons, reason) ? reasons[reason] : undefined
  return type === 'completed' ? 'end' : undefined
}

function citationOf(annotation: Json): Citation | undefined {
  const url = textIn(annotation, 'url')
  if (annotation['type'] !== 'url_citation' || !url) return undefined
  const title = textIn(annotation, 'title')
  const [start, end] = [numberIn(annotation, 'start_index'), numberIn(annotation, 'end_index')]
  return { url, ...present({ title, start, end }) }
}

/** Some upstreams omit the type of their errors. */
const isError = (type: string, { error }: Json): boolean =>
  type === 'response.failed' || type === 'error' || (type === '' && error != null)

/** In a failed response, in the event, or the event itself. */
function errorIn({ response, error, ...rest }: Json): unknown {
  if (isObject(response) && isObject(response['error'])) return response['error']
  return error ?? rest
}
