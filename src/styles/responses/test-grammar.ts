// Checks a stream of the responses style against the order that clients depend on, and that the last
// response repeats exactly what came before it.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'

export function eventsOf(stream: string): Json[] {
  return stream
    .split('\n\n')
    .filter((text) => text !== '' && !text.startsWith(':'))
    .map((text) => {
      const [name, data] = text.split('\n')
      const event = JSON.parse(data!.slice('data: '.length)) as Json
      if (name !== `event: ${event['type']}`) throw new Error(`${name} holds ${event['type']}`)
      return event
    })
}

interface OpenItem {
  item: Json
  index: number
  text: string
  hasPart: boolean
  isPartDone: boolean
  isTextDone: boolean
}

/** Undefined when the stream is one whole answer. */
export function responsesProblem(stream: string): string | undefined {
  const checker = new Checker()
  const events = eventsOf(stream)
  for (const [at, event] of events.entries()) {
    const problem = checker.check(event, at)
    if (problem !== undefined) return `event ${at} (${event['type']}): ${problem}`
  }
  return checker.isOver ? undefined : 'no end'
}

const finals = ['response.completed', 'response.incomplete', 'response.failed']

class Checker {
  isOver = false
  #id: unknown
  #open: OpenItem | undefined
  readonly #done: unknown[] = []

  check(event: Json, at: number): string | undefined {
    const type = String(event['type'])
    if (this.isOver) return 'after the end'
    if (event['sequence_number'] !== at) return `number ${event['sequence_number']}`
    if ((type === 'response.created') !== (at === 0)) return 'out of place'
    if (isObject(event['response'])) return this.#response(type, event['response'], at)
    if (type === 'response.output_item.added') return this.#added(event)
    return this.#inItem(type, event)
  }

  #response(type: string, response: Json, at: number): string | undefined {
    if (at === 0) this.#id = response['id']
    if (response['id'] !== this.#id) return 'another id'
    if (!finals.includes(type)) {
      return response['status'] === 'in_progress' ? undefined : 'a status'
    }
    this.isOver = true
    if (`response.${response['status']}` !== type) return `status ${response['status']}`
    if (type === 'response.failed') return response['error'] ? undefined : 'no error'
    if (this.#open !== undefined) return 'an open item'
    if (JSON.stringify(response['output']) !== JSON.stringify(this.#done)) return 'another output'
    return isObject(response['usage']) ? undefined : 'no usage'
  }

  #added(event: Json): string | undefined {
    if (this.#open !== undefined) return 'inside of an item'
    const item = event['item'] as Json
    const index = event['output_index'] as number
    if (index !== this.#done.length) return `index ${index}`
    const given = item['content'] ?? item['arguments'] ?? item['input'] ?? item['summary']
    if ((given as string | unknown[]).length > 0) return 'is not empty'
    this.#open = { item, index, text: '', hasPart: false, isPartDone: false, isTextDone: false }
    return undefined
  }

  #inItem(type: string, event: Json): string | undefined {
    const open = this.#open
    if (open === undefined) return 'outside of an item'
    if (event['output_index'] !== open.index) return `index ${event['output_index']}`
    if (type === 'response.output_item.done') return this.#itemDone(event['item'] as Json, open)
    if (event['item_id'] !== open.item['id']) return 'another item'
    const needsPart = open.item['type'] === 'message' || open.item['type'] === 'reasoning'
    if (type.endsWith('part.added')) {
      if (open.hasPart || !needsPart) return 'a second part'
      open.hasPart = true
      return textOf(event['part'] as Json) === '' ? undefined : 'is not empty'
    }
    if (needsPart && !open.hasPart) return 'before its part'
    if (type.endsWith('part.done')) {
      open.isPartDone = true
      if (!open.isTextDone) return 'before its text'
      return textOf(event['part'] as Json) === open.text ? undefined : 'another text'
    }
    if (type.endsWith('.delta')) {
      if (open.isTextDone) return 'after its text'
      open.text += event['delta']
      return kindsOf(type).includes(String(open.item['type'])) ? undefined : 'in another item'
    }
    if (type === 'response.output_text.annotation.added') return undefined
    if (!type.endsWith('.done')) return 'is not known'
    open.isTextDone = true
    return textOf(event) === open.text ? undefined : 'another text'
  }

  #itemDone(item: Json, open: OpenItem): string | undefined {
    this.#open = undefined
    this.#done.push(item)
    if (item['id'] !== open.item['id'] || item['type'] !== open.item['type']) return 'another item'
    if (item['type'] === 'tool_search_call') {
      return isObject(item['arguments']) ? undefined : 'no arguments'
    }
    const [part] = (item['content'] ?? item['summary'] ?? [item]) as Json[]
    if (part === undefined) return open.text === '' ? undefined : 'no text'
    if (!open.isTextDone || (open.hasPart && !open.isPartDone)) return 'before its parts'
    return textOf(part) === open.text ? undefined : 'another text'
  }
}

const textOf = (part: Json): unknown =>
  part['text'] ?? part['refusal'] ?? part['arguments'] ?? part['input']

const kindsOf = (type: string): string[] => {
  if (type.startsWith('response.reasoning')) return ['reasoning']
  if (type.startsWith('response.function_call')) return ['function_call']
  return type.startsWith('response.custom') ? ['custom_tool_call'] : ['message']
}
