// Writes an answer for a caller of the responses style: typed, numbered events, the last of which
// carries the whole response. A whole answer is that response, so that the two cannot differ.
import type { UpstreamError } from '../../contract/provider.ts'
import type { AnswerEvent, AnswerUsage, Block, StreamWriter } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import type { Seal } from '../common/envelope.ts'
import type { WriteContext } from '../common/style.ts'
import { echoOf, tierWord } from './echo.ts'
import { failedCode } from './failure-words.ts'
import { writeUsage } from './usage.ts'
import { type ItemEvent, newItem, type WrittenItem } from './written-items.ts'

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed'
type Stop = Extract<AnswerEvent, { type: 'stop' }>

export class ResponsesWriter implements StreamWriter {
  readonly #context: WriteContext
  readonly #echo: Json
  #number = 0
  #isBegun = false
  #hasRefusal = false
  /** Items that are done, as the caller knows them. */
  readonly #output: Json[] = []
  #item: WrittenItem | undefined
  #block: Block | undefined
  #callSeal: string | undefined
  /** Its content is complete; whether all of it came is known when something follows. */
  #pending: WrittenItem | undefined
  #index = 0
  #stop: Stop | undefined
  #usage: AnswerUsage | undefined
  #error: Json | null = null
  #created: Json | undefined

  /** Without events, for a caller that gets the whole response only. */
  readonly #isSilent: boolean

  constructor(context: WriteContext, isSilent = false) {
    this.#context = context
    this.#isSilent = isSilent
    this.#echo = echoOf(context.fields)
  }

  write(event: AnswerEvent): string {
    switch (event.type) {
      case 'begin':
        return this.#begin()
      case 'open':
        return this.#done('completed') + this.#open(event.block)
      case 'text':
      case 'input':
        return this.#send(this.#item!.piece(event.text))
      case 'cite':
        return this.#send(this.#item!.cite?.(event.citation) ?? [])
      case 'seal':
        this.#seal(event.seal)
        return ''
      case 'close':
        return this.#close()
      case 'stop':
        return this.#stopped(event)
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'fail':
        return this.#failed(event.error)
      case 'lost':
        return ''
    }
  }

  /** Clients do not count comments as a sign of life. */
  keepAlive(): string {
    return this.#send([['response.in_progress', { response: this.#created }]])
  }

  end(): string {
    const response = this.response()
    return this.#send([[`response.${response['status']}`, { response }]])
  }

  /** The whole response, as it is now. */
  response(): Json {
    return this.#response(this.#status, this.#output, this.#usage)
  }

  #begin(): string {
    if (this.#isBegun) return ''
    this.#isBegun = true
    const response = this.#response('in_progress', [], undefined)
    this.#created = response
    return this.#send([
      ['response.created', { response }],
      ['response.in_progress', { response }],
    ])
  }

  #open(block: Block): string {
    const { id, codingTool, conversation } = this.#context
    const index = this.#index++
    const item = newItem(block, `${id}_${index}`, index, {
      asText: codingTool === true,
      isSearch: ({ name, namespace }) =>
        conversation.tools.some((tool) => tool.search && tool.name === name && !namespace),
    })
    this.#item = item
    this.#block = block
    this.#hasRefusal ||= block.kind === 'refusal'
    const added: ItemEvent = [
      'response.output_item.added',
      { output_index: index, item: item.view('in_progress') },
    ]
    return this.#send([added, ...item.opened()])
  }

  /** A call has no place for its seal: it follows as reasoning that names the call. */
  #seal(seal: Seal): void {
    const { conversation, envelopes } = this.#context
    if (!conversation.wantsSeals) return
    if (this.#block?.kind === 'reasoning') this.#item!.envelope = envelopes.wrap(seal)
    else if (this.#block?.kind === 'call') {
      this.#callSeal = envelopes.wrap({ ...seal, itemId: this.#block.call.id })
    }
  }

  #close(): string {
    const item = this.#item!
    this.#pending = item
    const closed = this.#send(item.closed())
    const envelope = this.#callSeal
    if (envelope === undefined) return closed
    this.#callSeal = undefined
    const opened = this.#done('completed') + this.#open({ kind: 'reasoning' })
    this.#item!.envelope = envelope
    return closed + opened + this.#close()
  }

  #done(status: 'completed' | 'incomplete'): string {
    const item = this.#pending
    if (item === undefined) return ''
    this.#pending = undefined
    const view = item.view(status)
    const output_index = this.#output.push(view) - 1
    return this.#send([['response.output_item.done', { output_index, item: view }]])
  }

  /** A refusal without a word about it is a filter's. */
  #stopped(stop: Stop): string {
    const isBare = stop.reason === 'refusal' && !this.#hasRefusal && !stop.explanation
    this.#stop = isBare ? { ...stop, reason: 'filtered' } : stop
    const { reason, explanation } = this.#stop
    const done = this.#done(
      reason === 'length' || reason === 'filtered' ? 'incomplete' : 'completed',
    )
    const isWithheld = reason === 'refusal' || (reason === 'filtered' && !this.#context.codingTool)
    if (!isWithheld || this.#hasRefusal || !explanation) return done
    const refusal = this.#open({ kind: 'refusal' })
    const text = this.#send(this.#item!.piece(explanation))
    return done + refusal + text + this.#close() + this.#done('completed')
  }

  #failed(error: UpstreamError): string {
    this.#error = { code: failedCode(error.code), message: error.message }
    return this.#begin() + this.end()
  }

  /** A coding tool takes `incomplete` for a broken connection, and sends the call again. */
  get #status(): Status {
    if (this.#error !== null) return 'failed'
    const reason = this.#stop?.reason
    if (this.#context.codingTool) return reason === 'filtered' ? 'failed' : 'completed'
    return reason === 'length' || reason === 'filtered' ? 'incomplete' : 'completed'
  }

  #response(status: Status, output: readonly Json[], usage: AnswerUsage | undefined): Json {
    const { id, model, createdMs } = this.#context
    const created_at = Math.floor(createdMs / 1000)
    return {
      id: `resp_${id}`,
      object: 'response',
      created_at,
      status,
      completed_at: status === 'completed' ? created_at : null,
      error: this.#error ?? (status === 'failed' ? this.#filtered() : null),
      incomplete_details: status === 'in_progress' ? null : this.#details(),
      model,
      output: [...output],
      ...this.#echo,
      ...(usage?.servedTier !== undefined && { service_tier: tierWord(usage.servedTier) }),
      usage: usage === undefined ? null : writeUsage(usage),
    }
  }

  #filtered(): Json {
    const message = this.#stop?.explanation || 'The answer was withheld by a content filter.'
    return { code: 'invalid_prompt', message }
  }

  #details(): Json | null {
    const reason = this.#stop?.reason
    if (reason === 'length') return { reason: 'max_output_tokens' }
    return reason === 'filtered' ? { reason: 'content_filter' } : null
  }

  #send(events: readonly ItemEvent[]): string {
    if (this.#isSilent) return ''
    let text = ''
    for (const [type, fields] of events) {
      const sequence_number = this.#number++
      const data =
        typeof fields === 'string'
          ? `{"type":"${type}","sequence_number":${sequence_number},${fields}}`
          : JSON.stringify({ type, sequence_number, ...fields })
      text += `event: ${type}\ndata: ${data}\n\n`
    }
    return text
  }
}
