// Checks a chat stream as a caller gets it: an automaton over its events. Gives every rule that is
// broken.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'

export function chatProblems(stream: string): string[] {
  const checker = new Checker()
  const blocks = stream.split('\n\n')
  if (blocks.pop() !== '') checker.problem('the stream ends inside of an event')
  for (const block of blocks) checker.event(block)
  checker.end()
  return checker.problems
}

class Checker {
  readonly problems: string[] = []
  #head: string | undefined
  #calls = 0
  #finished = false
  #usage = false
  #done = false

  problem(text: string): void {
    this.problems.push(text)
  }

  event(block: string): void {
    if (block.startsWith(':')) return
    if (this.#done) this.problem('an event after [DONE]')
    if (block === 'data: [DONE]') {
      this.#done = true
      return
    }
    if (!block.startsWith('data: ')) {
      this.problem(`not an unnamed event: ${block.slice(0, 40)}`)
      return
    }
    this.#chunk(JSON.parse(block.slice(6)))
  }

  #chunk(chunk: Json): void {
    const { object, choices } = chunk
    const head = JSON.stringify([chunk['id'], chunk['created'], chunk['model']])
    if (this.#head !== undefined && this.#head !== head) this.problem('the head changes')
    const isFirst = this.#head === undefined
    this.#head = head
    if (object !== 'chat.completion.chunk') this.problem('not a chunk')
    if (!Array.isArray(choices)) this.problem('no choices')
    else if (choices.length === 0) this.#usageChunk(chunk)
    else for (const choice of choices) this.#choice(choice, isFirst)
  }

  #usageChunk({ usage }: Json): void {
    if (!this.#finished) this.problem('usage before the finish reason')
    if (this.#usage) this.problem('usage twice')
    this.#usage = true
    if (!isObject(usage)) this.problem('a chunk without choices and without usage')
    else if (usage['total_tokens'] !== sum(usage['prompt_tokens'], usage['completion_tokens'])) {
      this.problem('the total is not the sum')
    }
  }

  #choice(choice: Json, isFirst: boolean): void {
    const { index, delta, finish_reason: reason } = choice
    if (index !== 0) this.problem('a second choice')
    if (this.#finished) this.problem('a choice after the finish reason')
    if (!isObject(delta)) {
      this.problem('no delta')
      return
    }
    if (isFirst !== (delta['role'] === 'assistant'))
      this.problem('the role is not in the first chunk')
    this.#delta(delta, isFirst)
    if (reason === null) return
    if (!['stop', 'length', 'tool_calls', 'content_filter'].includes(String(reason))) {
      this.problem(`an unknown finish reason ${reason}`)
    }
    if (reason === 'tool_calls' && this.#calls === 0) this.problem('tool_calls without a call')
    if (reason === 'stop' && this.#calls > 0) this.problem('stop after a call')
    this.#finished = true
  }

  #delta(delta: Json, isFirst: boolean): void {
    for (const field of ['content', 'reasoning_content', 'refusal'] as const) {
      const text = delta[field]
      // Upstreams send null for what a chunk does not have.
      if (text === undefined || text === null) continue
      if (typeof text !== 'string') this.problem(`${field} is not a string`)
      else if (text === '' && !isFirst) this.problem(`${field} is empty`)
    }
    const calls = delta['tool_calls']
    if (calls === undefined) return
    if (!Array.isArray(calls)) this.problem('tool_calls is not a list')
    else for (const call of calls) this.#call(call)
  }

  #call(call: Json): void {
    const { index, id, type } = call
    const made = call['function'] ?? call['custom']
    // Clients check that it is there, also beside a seal.
    if (!isObject(made)) this.problem('a call without content')
    if (id === undefined) {
      if (index !== this.#calls - 1) this.problem('a delta of a call that is not the last')
      return
    }
    if (index !== this.#calls) this.problem('calls are not counted from 0')
    this.#calls++
    const isWhole = isObject(made) && typeof made['name'] === 'string' && made['name'] !== ''
    if (!isWhole || id === '' || (type !== 'function' && type !== 'custom')) {
      this.problem('a call begins without id, type or name')
    }
  }

  end(): void {
    if (this.#head === undefined) this.problem('no event')
    if (!this.#finished) this.problem('no finish reason')
    if (!this.#done) this.problem('no [DONE]')
  }
}

const sum = (a: unknown, b: unknown): unknown =>
  typeof a === 'number' && typeof b === 'number' ? a + b : undefined
