import { expect, test } from 'bun:test'
import { streamWrites } from '../upstreams/text-upstream.ts'
import { newReader, read, resetReader } from './response-reader.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
const stream = Buffer.concat(streamWrites('chat', 'm', 10))

test('a body with a length ends exactly there', () => {
  const reader = newReader()
  expect(read(reader, bytes(plain.slice(0, -1)))).toBe('more')
  expect(read(reader, bytes('o'))).toBe('done')
  expect(reader).toMatchObject({ status: 200, bodyBytes: 5, tail: 'hello' })
})

test('bytes after the end are not accepted', () => {
  expect(read(newReader(), bytes(`${plain}x`))).toBe('broken')
  expect(read(newReader(), Buffer.concat([stream, bytes('x')]))).toBe('broken')
})

test('a stream is the same whatever pieces it arrives in', () => {
  for (const size of [1, 2, 7, 100, 4096, stream.length]) {
    const reader = newReader()
    const outcomes = new Set<string>()
    let last = ''
    for (let at = 0; at < stream.length; at += size) {
      last = read(reader, stream.subarray(at, at + size))
      if (at + size < stream.length) outcomes.add(last)
    }
    expect(last).toBe('done')
    expect([...outcomes].every((outcome) => outcome === 'more')).toBe(true)
    expect(reader.tail).toEndWith('data: [DONE]\n\n')
    expect(reader.bodyBytes).toBe(streamBodyBytes())
  }
})

test('the end mark is found when the chunks of the framing cut through it', () => {
  const reader = newReader()
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  expect(read(reader, bytes(`${head}9\r\ndata: [DO\r\n5\r\nNE]\n\n\r\n0\r\n\r\n`))).toBe('done')
  expect(reader.tail).toBe('data: [DONE]\n\n')
})

test('a stream that stops early is not done', () => {
  expect(read(newReader(), stream.subarray(0, stream.length - 5))).toBe('more')
})

test('broken framing is noticed', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  for (const body of ['zz\r\n', '\r\n', '2\r\nabc\r\n']) {
    expect(read(newReader(), bytes(head + body))).toBe('broken')
  }
  expect(read(newReader(), bytes('HTTP/1.1 200 OK\r\n\r\n'))).toBe('broken')
})

test('a reader that was reset reads the next response', () => {
  const reader = newReader()
  read(reader, stream)
  resetReader(reader)
  expect(read(reader, bytes(plain))).toBe('done')
  expect(reader).toMatchObject({ bodyBytes: 5, tail: 'hello' })
})

function streamBodyBytes(): number {
  const text = stream.toString('latin1')
  return [...text.matchAll(/data: .*\n\n/g)].reduce((sum, match) => sum + match[0].length, 0)
}
