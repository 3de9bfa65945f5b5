import { expect, test } from 'bun:test'
import { fragmentOf, maxPresets, presetIn, presetsIn, withPreset } from './presets.ts'

const preset = { title: 'Chat', model: 'a', text: '{"messages": "你好 <b> ☀️"}' }

test('a link carries the request whole, and nothing else', () => {
  const more = { ...preset, account: 'acme', token: 'sk-1' }
  const fragment = fragmentOf(more)!
  expect(fragment).toMatch(/^#request=[\w-]+$/)
  expect(presetIn(fragment)).toEqual(preset)
  expect(presetIn(fragmentOf({ ...preset, other: 'b' })!)?.other).toBe('b')
})

test('a link has neither tokens nor images, wherever they stand', () => {
  const image = `data:image/png;base64,${'A'.repeat(50_000)}`
  const text = JSON.stringify({ url: image, more: 'Bearer sk-test-0123456789abcdefghijklmnop' })
  const shared = presetIn(fragmentOf({ ...preset, text, isConversation: true })!)
  expect(shared).toEqual({
    ...{ ...preset, isConversation: true },
    text: JSON.stringify({ url: 'data:image/png;base64,', more: 'Bearer YOUR_TOKEN' }),
  })
  expect(fragmentOf({ ...preset, text: 'x'.repeat(20_000) })).toBeUndefined()
})

test('what is no request is nothing', () => {
  for (const text of ['', '#', '#request=', '#request=%', '#request=e30', '#request=bnVsbA']) {
    expect([text, presetIn(text)]).toEqual([text, undefined])
  }
  expect(presetIn(`#request=${btoa('{"title":1,"text":"a"}')}`)).toBeUndefined()
  for (const text of [undefined, '', 'no', '{}', '[null, 1, {"name": "a"}]']) {
    expect(presetsIn(text)).toEqual([])
  }
})

test('the newest are kept, one of each name', () => {
  let all = withPreset([], { ...preset, name: 'first' })!
  all = withPreset(all, { ...preset, name: 'first', text: '{}' })!
  expect(all.map(({ text }) => text)).toEqual(['{}'])
  for (let i = 0; i < maxPresets; i++) all = withPreset(all, { ...preset, name: `${i}` })!
  expect([all.length, all[0]!.name]).toEqual([maxPresets, '0'])
  expect(presetsIn(JSON.stringify(all))).toEqual(all)
  expect(withPreset(all, { ...preset, name: 'x', text: 'x'.repeat(300_000) })).toBeUndefined()
})
