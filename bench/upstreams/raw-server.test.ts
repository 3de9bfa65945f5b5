import { expect, test } from 'bun:test'
import { newReader, read } from '../load/response-reader.ts'
import { payloads, type Style } from '../payload/index.ts'
import {
  frameChunk,
  jsonResponse,
  modelOf,
  pathOf,
  requestLength,
  wantsStream,
} from './raw-server.ts'
import { streamWrites } from './text-upstream.ts'

test('the upstream waits for the whole request, by length or by chunks', () => {
  const byLength = 'POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}'
  expect(requestLength(byLength)).toBe(byLength.length)
  expect(requestLength(byLength.slice(0, -1))).toBeUndefined()
  expect(requestLength('POST / HTTP/1.1\r\n')).toBeUndefined()
  const byChunks = 'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'
  expect(requestLength(byChunks)).toBe(byChunks.length)
  expect(requestLength(byChunks.slice(0, -2))).toBeUndefined()
})

test('a request tells its path, its model and whether it wants a stream', () => {
  const request = 'POST /a/v1/x HTTP/1.1\r\n\r\n{"model":"txta-plus","stream":true}'
  expect(pathOf(request)).toBe('/a/v1/x')
  expect(modelOf(request)).toBe('txta-plus')
  expect(wantsStream(request)).toBe(true)
  expect(wantsStream('{"stream":false}')).toBe(false)
  expect(modelOf('{}')).toBe('')
  const generate = 'POST /v1beta/models/m-1:streamGenerateContent?alt=sse HTTP/1.1\r\n\r\n{}'
  expect([modelOf(generate), wantsStream(generate)]).toEqual(['m-1', true])
})

test('what is framed or answered is well-formed, and counts bytes, not characters', () => {
  expect(frameChunk('\u00e9')).toBe('2\r\n\u00e9\r\n')
  const reader = newReader()
  expect(read(reader, jsonResponse('{"a":"\u00e9"}', '503 Service Unavailable'))).toBe('done')
  expect(reader).toMatchObject({ status: 503, bodyBytes: 10 })
})

test.each(['chat', 'responses', 'messages', 'generate'] as Style[])(
  'a stream of %s is whole however many events a write holds, and ends in its mark',
  (style) => {
    for (const perWrite of [1, 10, 100]) {
      const writes = streamWrites(style, 'm', perWrite)
      const events = payloads[style].stream!.events('m')
      expect(writes).toHaveLength(Math.ceil((events.length - 1) / perWrite) + 1)
      const reader = newReader()
      expect(read(reader, Buffer.concat(writes))).toBe('done')
      expect(reader.tail).toContain(payloads[style].stream!.endMark)
      expect(reader.bodyBytes).toBe(Buffer.byteLength(events.join('')))
    }
  },
)

test('embeddings have no stream', () => {
  expect(streamWrites('embeddings', 'm', 10)).toEqual([])
})
