// Usage of Converse to plain usage: the input excludes cached and written tokens.
import { expect, test } from 'bun:test'
import { readUsage } from '../../styles/converse/usage.ts'
import { usageOf } from '../text/test-usage.ts'

const wire = (more: object = {}) => ({ inputTokens: 10, outputTokens: 7, totalTokens: 17, ...more })
const hour = { ttl: '1h', inputTokens: 30 }
const minutes = { ttl: '5m', inputTokens: 20 }

test.each<[object, ReturnType<typeof usageOf>]>([
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
