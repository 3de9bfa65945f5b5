// Whatever an upstream of the generate style reports, the counts can be charged.
import { test } from 'bun:test'
import { oddCount, someOf, staysSound } from '../text/test-usage.ts'
import { readUsage } from './read-answer.ts'

test('whatever comes, usage is whole, never negative, and its parts lie inside the input', () => {
  const raw = someOf({
    promptTokenCount: oddCount,
    prompt_token_count: oddCount,
    toolUsePromptTokenCount: oddCount,
    cachedContentTokenCount: oddCount,
    candidatesTokenCount: oddCount,
    thoughtsTokenCount: oddCount,
    totalTokenCount: oddCount,
  })
  staysSound(readUsage, raw)
})
