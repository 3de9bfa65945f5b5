import { describe, expect, test } from 'bun:test'
import {
  newSpanId,
  newTraceId,
  readTraceParent,
  readTraceState,
  writeTraceParent,
} from './trace-context.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

describe('traceparent', () => {
  test('is read, with the caller as parent', () => {
    expect(readTraceParent(`00-${traceId}-${parentId}-01`)).toEqual({
      traceId,
      parentId,
      sampled: true,
    })
    expect(readTraceParent(`00-${traceId}-${parentId}-00`)!.sampled).toBe(false)
  })

  test('of a later version is read as far as this one goes', () => {
    expect(readTraceParent(`cc-${traceId}-${parentId}-03-more`)).toMatchObject({ sampled: true })
  })

  test.each([
    ['', 'nothing'],
    [`00-${traceId}-${parentId}`, 'no flags'],
    [`00-${traceId}-${parentId}-01-more`, 'more than the version has'],
    [`00-${traceId.toUpperCase()}-${parentId}-01`, 'capital letters'],
    [`00-${'0'.repeat(32)}-${parentId}-01`, 'no trace'],
    [`00-${traceId}-${'0'.repeat(16)}-01`, 'no parent'],
    [`ff-${traceId}-${parentId}-01`, 'the version that is none'],
    [`00-${traceId}x-${parentId}-01`, 'a letter too many'],
    [`cc-${traceId}-${parentId}-01-${'x'.repeat(300)}`, 'too long'],
    [`00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`, 'two of them'],
  ])('%j is ignored: %s', (header) => {
    expect(readTraceParent(header)).toBeUndefined()
  })

  test('is written as it is read', () => {
    const written = writeTraceParent(newTraceId(), newSpanId(), true)
    expect(written).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(readTraceParent(written)).toBeDefined()
  })
})

describe('tracestate', () => {
  test.each([
    ['a=1', 'a=1'],
    [' a=1 , b@c=x y ,', 'a=1,b@c=x y'],
  ])('%j goes on as %j', (header, expected) => {
    expect(readTraceState(header)).toBe(expected)
  })

  test.each([
    [null],
    [''],
    [',,'],
    ['A=1'],
    ['a'],
    ['a=1=2'],
    ['a=\u0001'],
    ['a=ä'],
    [`a=${'x'.repeat(600)}`],
    [Array.from({ length: 33 }, (_, i) => `a${i}=1`).join(',')],
  ])('%j does not', (header) => {
    expect(readTraceState(header)).toBeUndefined()
  })
})
