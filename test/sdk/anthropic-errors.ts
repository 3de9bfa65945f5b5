// How failures look to users of the `@anthropic-ai/sdk` package, and what it tries again by itself.
import { describe, expect, test } from 'bun:test'
import { type ErrorFields, requestIdShape, rowOf } from '../support/read.ts'
import { type AnthropicPackage, asking, clientOf, failureOf } from './anthropic-client.ts'
import {
  breaking,
  type ErrorClass,
  type Failing,
  refusals,
  statusInMessages,
  tries,
  upstreamFailures,
} from './failures.ts'
import { models, type Over, overs, type Stage, thrownBy, tokens } from './stage.ts'

/** The class and the type of an error, by its status. */
const shown: Readonly<Record<number, readonly [ErrorClass, string]>> = {
  400: ['BadRequestError', 'invalid_request_error'],
  401: ['AuthenticationError', 'authentication_error'],
  402: ['APIError', 'billing_error'],
  403: ['PermissionDeniedError', 'permission_error'],
  404: ['NotFoundError', 'not_found_error'],
  429: ['RateLimitError', 'rate_limit_error'],
  502: ['InternalServerError', 'upstream_error'],
  529: ['InternalServerError', 'overloaded_error'],
}

/** The body as the SDK keeps it. */
const bodyOf = (error: { error: unknown }) =>
  error.error as { type: string; request_id: string; error: ErrorFields }

async function expectFailure(
  sdk: AnthropicPackage,
  stage: Stage,
  { status, code, token = tokens.usual, model = models.text, content = 'x' }: Failing,
): Promise<void> {
  const client = clientOf(sdk, stage, { apiKey: token })
  const error = await failureOf(sdk, () => client.messages.create(asking(content, model)))
  const told = statusInMessages(status)
  const [kind, type] = shown[told]!
  expect(error).toBeInstanceOf(sdk[kind])
  expect([error.status, error.type as string]).toEqual([told, type])
  expect(error.requestID).toMatch(requestIdShape)
  const body = bodyOf(error)
  expect([body.type, body.request_id]).toEqual(['error', error.requestID!])
  expect(body.error.code).toBe(code)
  expect(body.error.message).toEndWith(`(${error.requestID})`)
  expect(error.message).toContain(error.requestID!)
}

/** Those that are the same whatever the upstream speaks. */
export function describeRefusals(sdk: AnthropicPackage, stage: Stage): void {
  describe('errors', () => {
    test.each([...refusals])('for $what have their class, type and id', (failing) =>
      expectFailure(sdk, stage, failing),
    )

    test('for a base address with /v1 say that it has it already', async () => {
      const client = clientOf(sdk, stage, { baseURL: `${stage.gateway.url}/v1` })
      const error = await failureOf(sdk, () => client.messages.create(asking('x')))
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(error.message).toContain('ends in /v1 already')
    })

    test('of counting are those of asking', async () => {
      const { max_tokens: _, ...countable } = asking('x', 'nope')
      const client = clientOf(sdk, stage)
      const error = await failureOf(sdk, () => client.messages.countTokens(countable))
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(bodyOf(error).error.code).toBe('model_not_found')
    })
  })
}

/** Those that come from upstream. */
export function describeFailures(sdk: AnthropicPackage, stage: Stage, { model, wire }: Over): void {
  describe('errors', () => {
    test.each([...upstreamFailures])('for $what have their class, type and id', (failing) =>
      expectFailure(sdk, stage, { model, ...failing }),
    )

    test.each(breaking)('inside a stream come after the text before them (%s)', async (how) => {
      const stream = await clientOf(sdk, stage).messages.create({
        ...asking(`[[sim:tokens=30]] [[sim:${how}]]`, model),
        stream: true,
      })
      let text = ''
      const error = await failureOf(sdk, async () => {
        for await (const event of stream) {
          if (event.type !== 'content_block_delta') continue
          if (event.delta.type === 'text_delta') text += event.delta.text
        }
      })
      expect(text).not.toBe('')
      expect(error.type as string).toBe('upstream_error')
      expect(error.requestID).toMatch(requestIdShape)
      expect(bodyOf(error).error.message).toEndWith(`(${error.requestID})`)
    })

    test('inside a stream fail its final message', async () => {
      const content = '[[sim:tokens=30]] [[sim:cut=9]]'
      const stream = clientOf(sdk, stage).messages.stream(asking(content, model))
      const error = await failureOf(sdk, () => stream.finalMessage())
      expect(error.type as string).toBe('upstream_error')
    })

    test('for stop sequences name them where the upstream has none', async () => {
      const request = { ...asking('[[sim:tokens=5]]', model), stop_sequences: ['END'] }
      const client = clientOf(sdk, stage)
      if (wire !== 'responses') {
        expect((await client.messages.create(request)).stop_reason).toBe('end_turn')
        return
      }
      const error = await failureOf(sdk, () => client.messages.create(request))
      expect(error).toBeInstanceOf(sdk.BadRequestError)
      expect(error.message).toContain("'stop_sequences'")
    })
  })
}

/** Over every upstream at the same time, because all of it takes time. */
export function describeLeaving(sdk: AnthropicPackage, stage: Stage): void {
  const overAll = (work: (model: string) => Promise<void>) =>
    Promise.all(overs.map(({ model }) => work(model)))

  describe('a call over every upstream', () => {
    test('can be left half-way, and is paid for', () =>
      overAll(async (model) => {
        const stream = clientOf(sdk, stage).messages.stream(
          asking('[[sim:tokens=50]] [[sim:chunk=10ms]]', model),
        )
        let seen = 0
        const error = await failureOf(sdk, async () => {
          for await (const _ of stream) if (++seen === 6) stream.abort()
        })
        expect(error).toBeInstanceOf(sdk.APIUserAbortError)
        const row = await rowOf(stage.gateway, stream.request_id!)
        expect([row.ending, row.usage?.output_tokens]).toEqual(['caller_left', 50])
      }))

    test("ends with the SDK's own time limit", () =>
      overAll(async (model) => {
        const client = clientOf(sdk, stage, { timeout: 100 })
        const request = asking('[[sim:delay=900ms]]', model)
        const error = await thrownBy(() => client.messages.create(request))
        expect(error).toBeInstanceOf(sdk.APIConnectionTimeoutError)
      }))

    test.each(tries)('is tried again after %s (%s): %d calls upstream', async (_, how, wanted) => {
      const client = clientOf(sdk, stage, { maxRetries: 1 })
      const calls = await stage.countCalls(() =>
        overAll(async (model) => {
          await failureOf(sdk, () => client.messages.create(asking(`[[sim:${how}]]`, model)))
        }),
      )
      expect(calls).toBe(wanted * overs.length)
    })
  })
}
