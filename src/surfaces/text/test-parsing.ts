// What the tests of all text requests share: a body as it comes in, and how a refusal reads.
import { expect } from 'bun:test'
import fc from 'fast-check'
import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import type { RequestContext } from '../../http/request-context.ts'

export type Parse = (body: JsonBody, x: RequestContext) => TextCall | Refusal

export const contextWith = (headers: Record<string, string> = {}): RequestContext =>
  ({ request: new Request('http://gateway/', { headers }) }) as RequestContext

export function read(
  parse: Parse,
  fields: Record<string, unknown>,
  headers?: Record<string, string>,
): TextCall | Refusal {
  const text = JSON.stringify(fields)
  return parse({ text, fields: JSON.parse(text) }, contextWith(headers))
}

/** The call, or a loud failure. */
export function accepted(
  parse: Parse,
  fields: Record<string, unknown>,
  headers?: Record<string, string>,
): TextCall {
  const call = read(parse, fields, headers)
  if (call instanceof Refusal) throw new Error(`refused: ${call.message}`)
  return call
}

/** At once, or by the engine where the price of the model has no such tool. */
export function expectRefusal(
  result: TextCall | Refusal,
  param: string,
  code = 'invalid_request',
): void {
  const refusal =
    result instanceof Refusal
      ? result
      : (result.serverTools?.[0]?.refusal ?? result.asks?.[0]?.refusal)
  expect(refusal).toBeInstanceOf(Refusal)
  const { code: given, extras, message } = refusal!
  expect([given, extras.param]).toEqual([code as typeof given, param])
  expect(message.length).toBeGreaterThan(10)
}

/** Any JSON, with the names that the counting looks at in odd places. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    { weight: 2, arbitrary: fc.constantFrom('image', 'text', '你好', '', -1, 1e308) },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    {
      weight: 3,
      arbitrary: fc.dictionary(
        fc.constantFrom(
          ...['role', 'content', 'type', 'text', 'thinking', 'input', 'tool_calls', 'image_url'],
          ...['output', 'arguments', 'summary', 'source', 'length'],
        ),
        tie('value'),
        { maxKeys: 5 },
      ),
    },
  ),
})).value

/** Whatever stands in these fields, a call that is taken has a size that can be held for. */
export function countsAnything(
  parse: Parse,
  least: Record<string, unknown>,
  names: string[],
): void {
  let taken = 0
  const odd = fc.record(Object.fromEntries(names.map((name) => [name, anyJson])), {
    requiredKeys: [],
  })
  fc.assert(
    fc.property(odd, (fields) => {
      const call = read(parse, { ...least, ...fields })
      if (call instanceof Refusal) return
      taken++
      expect(Number.isSafeInteger(call.inputTokens)).toBe(true)
      expect(call.inputTokens).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: 500 },
  )
  expect(taken).toBeGreaterThan(0)
}
