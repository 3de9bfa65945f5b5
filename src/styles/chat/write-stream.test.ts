// Streams and answers for callers of the chat style.
import { describe, expect, test } from 'bun:test'
import type { AnswerEvent, Block } from '../common/answer.ts'
import { AnswerSequence } from '../common/answer-sequence.ts'
import type { Conversation, Json } from '../common/conversation.ts'
import {
  dataOf,
  emptyConversation,
  envelopes,
  writeContext,
  written,
} from '../common/test-support.ts'
import { chat } from './index.ts'
import { chatProblems } from './test-grammar.ts'

const usage = {
  inputTokens: 10,
  outputTokens: 4,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  reasoningTokens: 1,
}

function recorded(work: (out: AnswerSequence) => void): AnswerEvent[] {
  const events: AnswerEvent[] = []
  const out = new AnswerSequence()
  out.emit = (event) => events.push(event)
  out.begin()
  work(out)
  return events
}

const lists = ['tool_calls', 'annotations', 'reasoning_details']

/** The message that a caller puts together from a stream; the answer without one must be the same. */
function messageOf(events: readonly AnswerEvent[], conversation: Conversation = emptyConversation) {
  const fields = { stream_options: { include_usage: true } }
  const stream = written(chat.newWriter(writeContext(conversation, fields)), events)
  expect(chatProblems(stream)).toEqual([])
  const message: Record<string, unknown> = {}
  let finish: unknown
  for (const { choices } of dataOf(stream)) {
    for (const { delta, finish_reason } of choices as { delta: Json; finish_reason: unknown }[]) {
      finish = finish_reason ?? finish
      for (const [name, value] of Object.entries(delta)) {
        if (lists.includes(name)) grow(message, name, value as Json[])
        else message[name] = name === 'role' ? value : `${message[name] ?? ''}${value}`
      }
    }
  }
  const answer = chat.writeAnswer(events, writeContext(conversation))
  const [choice] = answer['choices'] as { message: Json; finish_reason: unknown }[]
  const whole = Object.fromEntries(
    Object.entries(choice!.message).filter(([, value]) => value !== null),
  )
  expect([{ ...message, content: message['content'] || undefined }, finish]).toEqual([
    { ...whole, content: whole['content'] || undefined } as never,
    choice!.finish_reason,
  ])
  return { message, finish, stream, answer }
}

function grow(message: Record<string, unknown>, name: string, news: readonly Json[]): void {
  const list = (message[name] ?? []) as Record<string, unknown>[]
  message[name] = list
  for (const { index, ...item } of news) {
    const known = name === 'tool_calls' ? list[index as number] : undefined
    if (known === undefined) list.push(structuredClone(item))
    else {
      const made = (known['function'] ?? known['custom']) as Record<string, string>
      const { arguments: text, input } = (item['function'] ?? item['custom'] ?? {}) as Record<
        string,
        string
      >
      if (text !== undefined) made['arguments'] += text
      if (input !== undefined) made['input'] += input
      if (item['extra_content'] !== undefined) known['extra_content'] = item['extra_content']
    }
  }
}

const call = (id: string, freeForm = false): Block => ({
  kind: 'call',
  call: { id, name: 'f', freeForm },
})

describe('a stream for a chat caller', () => {
  test('has the same head in every chunk, and its usage last', () => {
    const { stream } = messageOf(recorded((out) => out.finish({ reason: 'end' }, usage)))
    expect(dataOf(stream).at(-1)).toEqual({
      id: 'chatcmpl-abc',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'asked-model',
      choices: [],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 4,
        total_tokens: 14,
        prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    })
    expect(stream).toContain('"usage":null')
    const plain = written(
      chat.newWriter(writeContext(emptyConversation)),
      recorded((out) => out.finish({ reason: 'end' }, usage)),
    )
    expect(plain).not.toContain('usage')
    expect(chatProblems(plain)).toEqual([])
  })

  test('joins texts, and counts calls from 0 wherever they stand', () => {
    const { message, finish } = messageOf(
      recorded((out) => {
        out.text('reasoning', 'a')
        out.text('text', 'b')
        out.open(call('i'))
        out.input('{"x":1}')
        out.text('text', 'c')
        out.open(call('j'))
        out.finish({ reason: 'end' }, usage)
      }),
    )
    expect(finish).toBe('tool_calls')
    expect(message).toEqual({
      role: 'assistant',
      content: 'bc',
      reasoning_content: 'a',
      tool_calls: [
        { id: 'i', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'j', type: 'function', function: { name: 'f', arguments: '{}' } },
      ],
    })
  })

  test('gives free-form calls their text', () => {
    const { message } = messageOf(
      recorded((out) => {
        out.open(call('i', true))
        out.input('{"input":"*** Begin"}')
        out.finish({ reason: 'calls' }, usage)
      }),
    )
    expect(message['tool_calls']).toEqual([
      { id: 'i', type: 'custom', custom: { name: 'f', input: '*** Begin' } },
    ])
  })

  test('gives seals to callers that asked for them, and those of calls to all', () => {
    const seal = { realm: 'r', data: 's' }
    const events = recorded((out) => {
      out.text('reasoning', 'a')
      out.seal(seal)
      out.open(call('i'))
      out.seal(seal)
      out.finish({ reason: 'calls' }, usage)
    })
    const data = envelopes.wrap(seal)
    const extra_content = { google: { thought_signature: data } }
    expect(messageOf(events).message).toMatchObject({ tool_calls: [{ extra_content }] })
    expect(messageOf(events).message).not.toHaveProperty('reasoning_details')
    expect(messageOf(events, { ...emptyConversation, wantsSeals: true }).message).toMatchObject({
      reasoning_details: [{ type: 'reasoning.encrypted', data }],
    })
  })

  test('has the seal of a call in its first piece, where clients look for it', () => {
    const seal = { realm: 'r', data: 's' }
    const pieces = (...steps: ((out: AnswerSequence) => void)[]) =>
      dataOf(
        messageOf(
          recorded((out) => {
            for (const step of steps) step(out)
          }),
        ).stream,
      )
        .flatMap(({ choices }) => choices as { delta: Json }[])
        .flatMap(({ delta }) => (delta['tool_calls'] ?? []) as Json[])
    const open = (out: AnswerSequence) => out.open(call('i'))
    const input = (out: AnswerSequence) => out.input('{}')
    const sealed = (out: AnswerSequence) => out.seal(seal)
    const finish = (out: AnswerSequence) => out.finish({ reason: 'calls' }, usage)
    const extra_content = { google: { thought_signature: envelopes.wrap(seal) } }
    expect(pieces(open, sealed, input, finish)).toEqual([
      {
        index: 0,
        id: 'i',
        type: 'function',
        function: { name: 'f', arguments: '' },
        extra_content,
      },
      { index: 0, function: { arguments: '{}' } },
    ])
    expect(pieces(open, input, sealed, finish).at(-1)).toEqual({
      index: 0,
      function: { arguments: '' },
      extra_content,
    })
  })

  test('shows no reasoning to a caller who excluded it', () => {
    const events = recorded((out) => {
      out.text('reasoning', 'secret')
      out.finish({ reason: 'end' }, usage)
    })
    const { stream } = messageOf(events, { ...emptyConversation, showReasoning: false })
    expect(stream).not.toContain('secret')
  })

  test('has citations as annotations', () => {
    const { message } = messageOf(
      recorded((out) => {
        out.text('text', 'a')
        out.cite({ url: 'https://a.example', title: 'A', start: 0, end: 1 })
        out.finish({ reason: 'end' }, usage)
      }),
    )
    expect(message['annotations']).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 },
      },
    ])
  })

  test.each<[Parameters<AnswerSequence['finish']>[0], string, string | undefined]>([
    [{ reason: 'end' }, 'stop', undefined],
    [{ reason: 'stop_sequence', sequence: '#' }, 'stop', undefined],
    [{ reason: 'length' }, 'length', undefined],
    [{ reason: 'filtered' }, 'content_filter', undefined],
    [{ reason: 'refusal', explanation: 'no' }, 'content_filter', 'no'],
  ])('that stops by %j says %s', (stop, reason, refusal) => {
    const { message, finish } = messageOf(recorded((out) => out.finish(stop, usage)))
    expect([finish, message['refusal']]).toEqual([reason, refusal])
  })

  test('has a refusal in the words of the model as an answer', () => {
    const { message, finish } = messageOf(
      recorded((out) => {
        out.text('refusal', 'no')
        out.finish({ reason: 'end' }, usage)
      }),
    )
    expect([finish, message['refusal']]).toEqual(['stop', 'no'])
  })

  test('is alive with a comment, and has no end when it failed', () => {
    const writer = chat.newWriter(writeContext(emptyConversation))
    expect(writer.keepAlive()).toBe(': ping\n\n')
    expect(writer.end()).toBe('')
  })
})
