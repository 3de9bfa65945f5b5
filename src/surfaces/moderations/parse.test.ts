// Moderation requests: what is taken, what is refused and by which name.
import { describe, expect, test } from 'bun:test'
import { expectRefusal, read } from '../text/test-parsing.ts'
import { parseModerations } from './parse.ts'

const min = { model: 'm', input: 'x' }
const image = { type: 'image_url', image_url: { url: 'https://a.example/a.png' } }

describe('a moderation request', () => {
  test('has texts, parts or both', () => {
    expect(read(parseModerations, min)).toMatchObject({ inputBound: { inputs: 1, images: 0 } })
    const input = ['one', { type: 'text', text: 'two' }, image]
    expect(read(parseModerations, { ...min, input })).toMatchObject({
      inputBound: { inputs: 3, images: 1 },
      quantity: { counted: 1 },
    })
  })

  test.each<[string, object]>([
    ['model', { model: undefined }],
    ['input', { input: undefined }],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: ['x', 5] }],
    ['input', { input: [{ type: 'audio' }] }],
    ['input', { input: [{ type: 'text', text: 5 }] }],
    ['input', { input: [{ type: 'image_url', image_url: 'https://a.example' }] }],
    ['input', { input: new Array(4_097).fill('x') }],
  ])('is refused for its %s (case %#)', (param, fields) => {
    expectRefusal(read(parseModerations, { ...min, ...fields }), param)
  })

  test.each<[string, object]>([
    ['file_id', { ...image, file_id: 'file-1' }],
    ['file_id', { type: 'text', text: 'x', fileId: 'file-1' }],
    ['file_id', { type: 'image_url', image_url: { url: 'gs://bucket/a.png' } }],
    ['container', { ...image, container: { id: 'c' } }],
  ])('names nothing that an upstream keeps, such as %s (case %#)', (param, part) => {
    const refused = read(parseModerations, { ...min, input: ['one', part] })
    expect(refused).toMatchObject({ code: 'not_found', extras: { param } })
  })
})
