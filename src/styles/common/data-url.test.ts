// Files inside of URLs, and what names say about files.
import { expect, test } from 'bun:test'
import { dataUrlOf, mediaKindOf, mediaSource, mimeTypeOfName, readDataUrl } from './data-url.ts'

test.each([
  ['data:image/png;base64,AAAA', { mimeType: 'image/png', data: 'AAAA' }],
  ['DATA:Image/PNG;BASE64,AAAA', { mimeType: 'image/png', data: 'AAAA' }],
  ['data:text/plain;charset=utf-8;base64,AAAA', { mimeType: 'text/plain', data: 'AAAA' }],
  ['data:,a%20b', { mimeType: 'text/plain', data: 'YSBi' }],
  ['data:text/csv,%', { mimeType: 'text/csv', data: 'JQ==' }],
  ['data:image/png;base64,', { mimeType: 'image/png', data: '' }],
  ['https://a.example/data:image/png;base64,AAAA', undefined],
  ['data:image/png', undefined],
  ['', undefined],
] as const)('%j holds %j', (url, expected) => {
  expect(readDataUrl(url)).toEqual(expected as never)
  expect(mediaSource(url)).toEqual(expected ?? { url })
})

test('base64 is not decoded', () => {
  const data = 'not base64 at all!'
  expect(readDataUrl(`data:image/png;base64,${data}`)?.data).toBe(data)
})

test.each([
  [{ mimeType: 'image/png', data: 'AAAA' }, 'data:image/png;base64,AAAA'],
  [{ url: 'https://a.example' }, 'https://a.example'],
  [{ text: 'a b' }, 'data:text/plain;base64,YSBi'],
])('%j is %s', (part, url) => {
  expect(dataUrlOf({ type: 'document', ...part })).toBe(url)
})

test.each([
  ['a.PDF', 'application/pdf'],
  ['https://a.example/x.png?y=z', 'image/png'],
  ['a', undefined],
  ['a.constructor', undefined],
])('a file %s has the type %s', (name, type) => {
  expect(mimeTypeOfName(name)).toBe(type)
})

test('a type has a kind', () => {
  const types = ['image/png', 'audio/wav', 'video/mp4', 'application/pdf', 'text/plain', 'x']
  const kinds = ['image', 'audio', 'video', 'document', 'document', 'document'] as const
  expect(types.map(mediaKindOf)).toEqual([...kinds])
})
