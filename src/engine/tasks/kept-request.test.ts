// What a task keeps of its request, whatever the length.
import { expect, test } from 'bun:test'
import type { VideoRequest } from '../../contract/task.ts'
import { keptRequest } from './kept-request.ts'

const request: VideoRequest = { prompt: 'a cat', seconds: 5, resolution: '720p', media: [] }

test('an ordinary request is kept as it is', () => {
  const native = { body: { content: [{ type: 'text', text: 'a cat' }], ratio: '16:9' } }
  for (const each of [
    request,
    { ...request, native },
    { ...request, prompt: 'x '.repeat(30_000) },
  ]) {
    expect(keptRequest(each)).toEqual(each)
  }
})

test.each(['prompt', 'negativePrompt', 'ratio'])('of a long %s the beginning is kept', (name) => {
  const kept = keptRequest({ ...request, [name]: 'word '.repeat(1_000_000) })
  expect(kept.isCut).toBe(true)
  expect(kept[name as 'prompt'].length).toBe(65_537)
  expect(kept[name as 'prompt']).toStartWith('word word')
})

test('a large native body is trimmed, whether by texts, by keys or by their number', () => {
  const text = 'x '.repeat(5_000)
  for (const body of [
    { content: [{ type: 'text', text: 'word '.repeat(1_000_000) }] },
    { content: [{ type: 'text', text: 'a cat', many: Array(1_000).fill(text) }] },
    { content: [], ['k'.repeat(1_000_000)]: 1 },
  ]) {
    const kept = keptRequest({ ...request, native: { body } })
    expect(kept.isCut).toBe(true)
    expect(JSON.stringify(kept).length).toBeLessThan(64 * 1024)
    expect(Object.keys(kept.native?.body ?? {})).toContain('content')
  }
})
