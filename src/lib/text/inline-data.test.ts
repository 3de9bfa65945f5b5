// What is left of a request when its pictures are taken out.
import { expect, test } from 'bun:test'
import { withoutInlineData } from './inline-data.ts'

const image = `data:image/png;base64,${'A'.repeat(1000)}`

test('long data addresses lose their bytes, wherever they are', () => {
  const short = 'data:image/png;base64,…'
  expect(withoutInlineData({ media: [{ kind: 'image', url: image }], n: [image, 5] })).toEqual({
    media: [{ kind: 'image', url: short }],
    n: [short, 5],
  })
  expect(withoutInlineData(`data:${'x'.repeat(1000)}`)).toBe('data:…')
})

test('bare base64 goes when it is longer than any address', () => {
  expect(withoutInlineData({ image: 'A'.repeat(8_193) })).toEqual({ image: 'base64,…' })
  const others = ['A'.repeat(8_192), `${'long '.repeat(2_000)}text`, `https://${'a'.repeat(9_000)}`]
  expect(withoutInlineData(others)).toEqual(others)
})

test('everything else stays as it is', () => {
  for (const value of [1, null, true, 'data:image/png;base64,AAAA', 'x'.repeat(1000), undefined]) {
    expect(withoutInlineData(value)).toBe(value as string)
  }
  const same = { a: [1, { b: 'https://example.com/a.png' }], c: null }
  expect(withoutInlineData(same)).toEqual(same)
})
