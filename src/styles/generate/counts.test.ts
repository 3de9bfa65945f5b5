// Usage of the generate style: thoughts beside the candidates, cached tokens inside the prompt.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readCounts } from './counts.ts'

const counts = (input?: number, output?: number, cached = 0, thoughts = 0) => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: cached,
  reasoningTokens: thoughts,
})

describe('usage', () => {
  test.each<[string, object, ReturnType<typeof counts> | undefined]>([
    [
      'has both sides',
      { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 },
      counts(10, 7),
    ],
    [
      'has thoughts beside the candidates',
      {
        promptTokenCount: 10,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 500,
        totalTokenCount: 517,
      },
      counts(10, 507, 0, 500),
    ],
    [
      'has thoughts inside the candidates where the total says so',
      { promptTokenCount: 10, candidatesTokenCount: 7, thoughtsTokenCount: 5, totalTokenCount: 17 },
      counts(10, 7, 0, 5),
    ],
    [
      'has thoughts in the total only',
      { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 300 },
      counts(10, 290),
    ],
    [
      'counts what tools read as input, and cached tokens inside it',
      {
        promptTokenCount: 10,
        toolUsePromptTokenCount: 4,
        cachedContentTokenCount: 8,
        candidatesTokenCount: 1,
        totalTokenCount: 15,
      },
      counts(14, 1, 8),
    ],
    [
      'leaves out candidates where all output was thought',
      { promptTokenCount: 10, thoughtsTokenCount: 90, totalTokenCount: 100 },
      counts(10, 90, 0, 90),
    ],
    ['leaves out zeros', { promptTokenCount: 10, totalTokenCount: 10 }, counts(10, 0)],
    ['may have no total', { promptTokenCount: 10, candidatesTokenCount: 7 }, counts(10, 7)],
    ['may have no output', { promptTokenCount: 10 }, counts(10, undefined)],
    ['may have no input', { candidatesTokenCount: 7, totalTokenCount: 20 }, counts(13, 7)],
    [
      'may be written with underscores',
      {
        prompt_token_count: 10,
        cached_content_token_count: 3,
        candidates_token_count: 7,
        thoughts_token_count: 2,
        total_token_count: 19,
      },
      counts(10, 9, 3, 2),
    ],
    [
      'never has more cached tokens than input',
      { promptTokenCount: 5, cachedContentTokenCount: 9, candidatesTokenCount: 1 },
      counts(5, 1, 5),
    ],
    ['is nothing without a count', { trafficType: 'ON_DEMAND' }, undefined],
    [
      'is nothing with counts that are none',
      { promptTokenCount: -1, candidatesTokenCount: '7' },
      undefined,
    ],
  ])('%s', (_, raw, wanted) => {
    expect(readCounts(raw)).toEqual(wanted as never)
  })

  test('adds up to the total, whatever the parts are', () => {
    const nat = fc.nat(1_000_000)
    fc.assert(
      fc.property(nat, nat, nat, nat, (prompt, toolUse, candidates, thoughts) => {
        const total = prompt + toolUse + candidates + thoughts
        const read = readCounts({
          promptTokenCount: prompt,
          toolUsePromptTokenCount: toolUse,
          candidatesTokenCount: candidates,
          thoughtsTokenCount: thoughts,
          totalTokenCount: total,
        })!
        expect(read.inputTokens! + read.outputTokens!).toBe(total)
        expect(read.reasoningTokens).toBe(thoughts)
      }),
    )
  })
})
