// Checks a messages stream as a caller gets it: an automaton over its events. Gives every rule that is
// broken.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'

export function messagesProblems(stream: string): string[] {
  const checker = new Checker()
  const blocks = stream.split('\n\n')
  if (blocks.pop() !== '') checker.problem('the stream ends inside of an event')
  for (const block of blocks) checker.event(block)
  checker.end()
  return checker.problems
}

const deltasOf: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
}

const usageFields = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
]

class Checker {
  readonly problems: string[] = []
  #state: 'new' | 'begun' | 'ended' | 'stopped' = 'new'
  #next = 0
  #type: string | undefined
  #input = ''
  #deltas = 0
  #isSigned = false
  #calls = 0

  problem(text: string): void {
    this.problems.push(text)
  }

  event(block: string): void {
    const [first = '', second = '', ...more] = block.split('\n')
    if (!first.startsWith('event: ') || !second.startsWith('data: ') || more.length > 0) {
      this.problem(`not a named event: ${block.slice(0, 40)}`)
      return
    }
    const data: Json = JSON.parse(second.slice(6))
    const { type } = data
    if (type !== first.slice(7)) this.problem('the name is not the type')
    if (this.#state === 'stopped') this.problem(`${type} after the end`)
    if (type === 'ping') return
    if ((type === 'message_start') !== (this.#state === 'new')) this.problem(`${type} out of order`)
    this.#step(String(type), data)
  }

  #step(type: string, data: Json): void {
    if (type === 'message_start') this.#begin(data['message'])
    else if (type === 'content_block_start') this.#start(data)
    else if (type === 'content_block_delta') this.#delta(data)
    else if (type === 'content_block_stop') this.#stop(data)
    else if (type === 'message_delta') this.#end(data)
    else if (type === 'message_stop') {
      if (this.#state !== 'ended') this.problem('message_stop without message_delta')
      this.#state = 'stopped'
    } else this.problem(`an unknown event ${type}`)
  }

  #begin(message: unknown): void {
    this.#state = 'begun'
    const { role, content, stop_reason: reason, usage } = isObject(message) ? message : {}
    if (role !== 'assistant' || reason !== null) this.problem('not the start of a message')
    if (!Array.isArray(content) || content.length > 0) this.problem('the message is not empty')
    this.#usage(usage)
  }

  #usage(usage: unknown): void {
    const isWhole = isObject(usage) && usageFields.every((name) => typeof usage[name] === 'number')
    if (!isWhole) this.problem('usage is not complete')
  }

  #start({ index, content_block: block }: Json): void {
    if (this.#state !== 'begun') this.problem('a block after message_delta')
    if (this.#type !== undefined) this.problem('a block inside of a block')
    if (index !== this.#next++) this.problem('blocks are not numbered in order')
    const type = isObject(block) ? String(block['type']) : ''
    if (deltasOf[type] === undefined) this.problem(`an unknown block ${type}`)
    this.#type = type
    this.#input = ''
    this.#deltas = 0
    this.#isSigned = false
    if (isObject(block)) this.#isEmpty(type, block)
  }

  #isEmpty(type: string, block: Json): void {
    if (type === 'text' && block['text'] !== '') this.problem('a text block begins with text')
    if (type === 'thinking' && block['thinking'] !== '') this.problem('thinking begins with text')
    if (type !== 'tool_use') return
    this.#calls++
    const { id, name, input } = block
    if (!id || !name || JSON.stringify(input) !== '{}') this.problem('a call without id or name')
  }

  #delta({ index, delta }: Json): void {
    const type = isObject(delta) ? String(delta['type']) : ''
    if (this.#type === undefined || index !== this.#next - 1)
      this.problem('a delta outside of its block')
    else if (!deltasOf[this.#type]?.includes(type)) this.problem(`${type} in a ${this.#type} block`)
    if (this.#isSigned) this.problem('a delta after the signature')
    if (type === 'signature_delta') this.#isSigned = true
    this.#deltas++
    if (isObject(delta) && typeof delta['partial_json'] === 'string')
      this.#input += delta['partial_json']
    if (isObject(delta) && (delta['text'] === '' || delta['thinking'] === '')) {
      this.problem('an empty delta')
    }
  }

  #stop({ index }: Json): void {
    if (this.#type === undefined || index !== this.#next - 1)
      this.problem('a stop without its start')
    if (this.#type === 'text' && this.#deltas === 0) this.problem('an empty text block')
    if (this.#type === 'tool_use' && this.#input === '') this.problem('a call without input')
    this.#type = undefined
  }

  #end({ delta, usage }: Json): void {
    if (this.#state !== 'begun') this.problem('message_delta twice')
    if (this.#type !== undefined) this.problem('message_delta inside of a block')
    this.#state = 'ended'
    const reason = isObject(delta) ? delta['stop_reason'] : undefined
    if (
      !['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'].includes(String(reason))
    ) {
      this.problem(`an unknown stop reason ${reason}`)
    }
    if (reason === 'tool_use' && this.#calls === 0) this.problem('tool_use without a call')
    if (reason === 'end_turn' && this.#calls > 0) this.problem('end_turn after a call')
    this.#usage(usage)
  }

  end(): void {
    if (this.#state !== 'stopped') this.problem('no message_stop')
  }
}
