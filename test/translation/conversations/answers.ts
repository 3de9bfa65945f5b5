// What upstreams answer: several calls, reasoning, refusals, ends of every kind, sources.
import type { AnswerEvent } from '../../../src/styles/common/answer.ts'
import { type ConversationCase, clock, user, weather } from './conversation-case.ts'

const patch = { name: 'apply_patch', description: 'Changes files.', freeForm: {} }
const usage = {
  inputTokens: 100,
  outputTokens: 40,
  cacheReadTokens: 60,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

/** An answer of one text, which the sandbox cannot be told to give. */
const answer = (
  text: string,
  more: readonly AnswerEvent[],
  stop: Omit<Extract<AnswerEvent, { type: 'stop' }>, 'type'>,
): readonly AnswerEvent[] => [
  { type: 'begin' },
  { type: 'open', index: 0, block: { kind: 'text' } },
  { type: 'text', index: 0, text },
  ...more,
  { type: 'close', index: 0 },
  { type: 'stop', ...stop },
  { type: 'usage', usage },
]

const cite = (url: string, title: string, start: number, end: number): AnswerEvent => ({
  type: 'cite',
  index: 0,
  citation: { url, title, start, end, quote: 'ä b' },
})

export const answerCases: readonly ConversationCase[] = [
  {
    name: 'an answer of three calls whose arguments alternate',
    conversation: {
      tools: [weather, clock],
      turns: [user('Hm [[sim:calls=3]] [[sim:interleaved]]')],
      toolChoice: { mode: 'required' },
    },
    isOutOfOrder: true,
  },
  {
    name: 'an answer that calls a tool with free text',
    conversation: {
      tools: [weather, patch],
      turns: [user('Hm')],
      toolChoice: { mode: 'tool', name: 'apply_patch' },
    },
    changes: { chat: ['toolFreeForm'], messages: ['toolFreeForm'], generate: ['toolFreeForm'] },
  },
  {
    name: 'an answer after reasoning',
    conversation: { turns: [user('Hm [[sim:reasoning=5]] [[sim:tokens=12]]')] },
  },
  {
    name: 'an answer after reasoning without its text',
    conversation: { turns: [user('Hm [[sim:reasoning=5]] [[sim:tokens=12]] [[sim:redacted]]')] },
  },
  {
    name: 'an answer that refuses',
    conversation: { turns: [user('Hm [[sim:refusal]]')] },
  },
  {
    name: 'an answer that was withheld',
    conversation: { turns: [user('Hm [[sim:finish=filtered]]')] },
  },
  {
    name: 'a stream with signs of life and early usage',
    conversation: { turns: [user('Hm [[sim:keep-alive=2]] [[sim:usage=every]]')] },
  },
  {
    name: 'an answer with sources',
    conversation: { turns: [user('Hm')] },
    answer: answer(
      'ä b c',
      [cite('https://a.example', 'A', 0, 3), cite('https://b.example', 'B', 4, 5)],
      { reason: 'end' },
    ),
  },
  {
    name: 'an answer that a stop sequence ended',
    conversation: { turns: [user('Hm')] },
    answer: answer('one', [], { reason: 'stop_sequence', sequence: 'two' }),
  },
]
