// Request and response bodies: only the model name and the usage option may change; everything else
// stays as its author wrote it.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { withModel, withModelIn } from '../../lib/json/splice.ts'
import { buildBody, post } from '../text/send.ts'
import { chatStyle } from './index.ts'

/** A call as the surface makes it from this text. */
function callOf(body: string): TextCall {
  const fields = JSON.parse(body) as Record<string, unknown>
  const options = fields['stream_options'] as { include_usage?: boolean } | null | undefined
  return {
    interface: 'chat',
    model: String(fields['model']),
    stream: fields['stream'] === true,
    wantsUsage: options?.include_usage === true,
    body,
    fields,
    inputTokens: 1,
    inputBound: { maxTextTokens: 1, images: 0, isOpen: false, inputs: 1 },
    choices: 1,
  }
}

/** The body that goes out. */
function up(body: string, model: string): string {
  let sent = ''
  const http: Upstream['http'] = {
    post(_url, _headers, text) {
      sent = String(text)
      return { answer: new Promise(() => {}), cancel() {} }
    },
    get: () => ({ answer: new Promise(() => {}), cancel() {} }),
    delete: () => ({ answer: new Promise(() => {}), cancel() {} }),
  }
  const upstream = { baseUrl: 'http://up', key: 'k', model, http } as Upstream
  const call = callOf(body)
  const made = buildBody(chatStyle, call, upstream) as string
  post(chatStyle, '/chat/completions', call, upstream, new Cancellation(), made)
  return sent
}

describe('a body on its way up', () => {
  test('stays as it is when neither name nor usage has to change', () => {
    const body = '{ "model" : "a",\n "big": 12345678901234567890, "x": 1.0, "messages": [] }'
    expect(up(body, 'a')).toBe(body)
    const asked = '{"model":"a","stream":true,"stream_options":{"include_usage":true},"x":1e2}'
    expect(up(asked, 'a')).toBe(asked)
  })

  test('changes its model name and not one byte besides', () => {
    const body = '{ "x": 1.0,\t"model" : "a" , "big": 12345678901234567890, "t": "\\u00e9é" }'
    expect(up(body, 'up-1')).toBe(
      '{ "x": 1.0,\t"model":"up-1" , "big": 12345678901234567890, "t": "\\u00e9é" }',
    )
  })

  test.each(['$&', '$1', '$$', "$'", '$`', 'a"b', 'a\\b', 'org/model:tag@1'])(
    'takes the upstream name %j as it is',
    (name) => {
      expect(JSON.parse(up('{"model":"a","n":1}', name))).toEqual({ model: name, n: 1 })
      const streamed = up('{"model":"a","stream":true}', name)
      expect(JSON.parse(streamed)).toMatchObject({ model: name, stream: true })
    },
  )

  test.each([
    ['a duplicate', '{"model":"a","model":"b","n":1}', 'b'],
    ['a duplicate that is not a string', '{"model":5,"model":"b"}', 'b'],
    ['an escaped duplicate before', '{"mod\\u0065l":"a","model":"b"}', 'b'],
    ['an escaped duplicate after', '{"model":"a","\\u006dodel":"b"}', 'b'],
    ['an escaped name alone', '{"\\u006Dode\\u006c":"b"}', 'b'],
    ['a nested one', '{"metadata":{"model":"x"},"model":"b"}', 'b'],
    ['a value that looks like the name', '{"stop":"model","model":"b"}', 'b'],
    ['a text that looks like the whole', '{"user":"\\"model\\":\\"x\\"","model":"b"}', 'b'],
  ])('has one model only, the one that is served, with %s', (_, body, served) => {
    for (const upstream of [served, 'up-1']) {
      const sent = up(body, upstream)
      expect(sent.match(/"(?:m|\\u006d)od(?:e|\\u0065)(?:l|\\u006c)"\s*:/gi)?.length).toBe(
        sent.includes('metadata') ? 2 : 1,
      )
      const { model: _model, ...rest } = JSON.parse(body) as Record<string, unknown>
      expect(JSON.parse(sent)).toEqual({ ...rest, model: upstream })
    }
  })

  test.each([
    ['none', '{"model":"a","stream":true}', {}],
    ['null', '{"model":"a","stream":true,"stream_options":null}', {}],
    ['an empty one', '{"model":"a","stream":true,"stream_options":{}}', {}],
    ['a refusal', '{"model":"a","stream":true,"stream_options":{"include_usage":false}}', {}],
    ['another option', '{"model":"a","stream":true,"stream_options":{"x":[1]}}', { x: [1] }],
    ['an escaped one', '{"model":"a","stream":true,"stream\\u005foptions":{"x":1}}', { x: 1 }],
  ])('asks for usage on a stream whose stream_options are %s', (_, body, kept) => {
    for (const name of ['a', 'up-1']) {
      const sent = up(body, name)
      expect(JSON.parse(sent)).toEqual({
        ...(JSON.parse(body) as object),
        model: name,
        stream_options: { ...kept, include_usage: true },
      })
      expect(Object.keys(JSON.parse(sent)).filter((key) => key === 'stream_options')).toHaveLength(
        1,
      )
    }
  })

  test('asks for no usage when no stream is asked for', () => {
    expect(up('{"model":"a","stream":false}', 'b')).toBe('{"model":"b","stream":false}')
    expect(up('{"model":"a","stream":null}', 'b')).toBe('{"model":"b","stream":null}')
  })

  test('keeps everything else, whatever it is', () => {
    const key = fc.string().filter((k) => !['model', 'stream', 'stream_options'].includes(k))
    const rest = fc.dictionary(key, fc.jsonValue(), { maxKeys: 6 })
    const layout = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(rest, fc.boolean(), layout, fc.string(), (fields, stream, indent, name) => {
        // JSON has no -0, and a key __proto__ never gets this far.
        const clean = JSON.parse(JSON.stringify(fields)) as object
        if (Object.hasOwn(clean, '__proto__')) return
        const body = JSON.stringify({ ...clean, model: 'a', stream }, null, indent)
        const wanted = { ...clean, model: name, stream }
        const asked = stream ? { ...wanted, stream_options: { include_usage: true } } : wanted
        expect(JSON.parse(up(body, name))).toEqual(asked)
      }),
      { numRuns: 500 },
    )
  })
})

test('a text that names no model, or two, is not spliced', () => {
  expect(withModel('{"a":1}', 'x')).toBe('{"model":"x","a":1}')
  expect(withModel('{"model":"a","b":{"model":"c"}}', 'x')).toBe('{"model":"x","b":{"model":"c"}}')
  expect(withModel('{"model":5}', 'x')).toBe('{"model":"x"}')
})

test('a name one level down is put back there and nowhere else', () => {
  const text =
    '{"type":"x","tools":[{"model":"t"}],"response":{"id":1,"model":"a","b":{"model":"c"}}}'
  expect(withModelIn(text, 'response', 'x$&')).toBe(
    '{"type":"x","tools":[{"model":"t"}],"response":{"id":1,"model":"x$&","b":{"model":"c"}}}',
  )
  expect(withModelIn('event: e\ndata: {"message":{"model":"a"}}\n\n', 'message', 'x')).toBe(
    'event: e\ndata: {"message":{"model":"x"}}\n\n',
  )
  for (const other of ['{"response":null}', '{"response":"model"}', '{"model":"a"}', '{}']) {
    expect(withModelIn(other, 'response', 'x')).toBe(other)
  }
})
