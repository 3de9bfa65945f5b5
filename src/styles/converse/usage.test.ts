// Usage of Converse to plain usage: the input excludes cached and written tokens.
import { expect, test } from 'bun:test'
import type { ReportedUsage } from '../../contract/usage.ts'
import { readUsage } from './usage.ts'

const usageOf = (input: number, output: number, read = 0, write = 0, hour = 0): ReportedUsage => ({
  ...{ inputTokens: input, outputTokens: output, cacheReadTokens: read, cacheWriteTokens: write },
  ...(hour > 0 && { parts: { cacheWrite1hTokens: hour } }),
})
const wire = (more: object = {}) => ({ inputTokens: 10, outputTokens: 7, totalTokens: 17, ...more })
const hour = { ttl: '1h', inputTokens: 30 }
const minutes = { ttl: '5m', inputTokens: 20 }

test.each<[object, ReportedUsage]>([
  [wire(), usageOf(10, 7)],
  [wire({ cacheReadInputTokens: 6, cacheWriteInputTokens: 4 }), usageOf(20, 7, 6, 4)],
  [wire({ cacheWriteInputTokens: 50, cacheDetails: [hour, minutes] }), usageOf(60, 7, 0, 50, 30)],
  [wire({ cacheWriteInputTokens: 60, cacheDetails: [hour, hour] }), usageOf(70, 7, 0, 60, 60)],
  [wire({ cacheDetails: [hour, minutes] }), usageOf(60, 7, 0, 50, 30)],
  [wire({ cacheWriteInputTokens: 20, cacheDetails: [hour] }), usageOf(30, 7, 0, 20, 20)],
  [
    wire({
      cacheWriteInputTokens: 20,
      cacheDetails: [null, 3, { ttl: '1h' }, { ttl: '1h', inputTokens: '9' }],
    }),
    usageOf(30, 7, 0, 20),
  ],
  [wire({ cacheWriteInputTokens: 20, cacheDetails: 'no' }), usageOf(30, 7, 0, 20)],
])('%j', (raw, usage) => expect(readUsage(raw)).toEqual(usage))
