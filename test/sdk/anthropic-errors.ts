// How failures look to users of the `@anthropic-ai/sdk` package, and what it tries again by itself.
import { describe, expect, test } from 'bun:test'
import { type ErrorFields, requestIdShape } from '../support/read.ts'
import { type AnthropicPackage, asking, clientOf, failureOf } from './anthropic-client.ts'
import { models, type Stage, tokens } from './stage.ts'

interface Failing {
  what: string
  kind:
    | 'AuthenticationError'
    | 'PermissionDeniedError'
    | 'NotFoundError'
    | 'BadRequestError'
    | 'RateLimitError'
    | 'InternalServerError'
    | 'APIError'
  status: number
  type: string
  code: string
  content?: string
  model?: string
  apiKey?: string
}

const invalid = 'invalid_request_error'
const failing: Failing[] = [
  {
    what: 'an unknown token',
    kind: 'AuthenticationError',
    status: 401,
    type: 'authentication_error',
    code: 'invalid_api_key',
    apiKey: tokens.unknown,
  },
  {
    what: 'a token used elsewhere',
    kind: 'PermissionDeniedError',
    status: 403,
    type: 'permission_error',
    code: 'ip_not_allowed',
    apiKey: tokens.elsewhere,
  },
  {
    what: 'an empty account',
    kind: 'APIError',
    status: 402,
    type: 'billing_error',
    code: 'insufficient_quota',
    apiKey: tokens.broke,
  },
  {
    what: 'an unknown model',
    kind: 'NotFoundError',
    status: 404,
    type: 'not_found_error',
    code: 'model_not_found',
    model: 'nope',
  },
  {
    what: 'a model of another interface',
    kind: 'BadRequestError',
    status: 400,
    type: invalid,
    code: 'model_not_supported',
    model: models.embedding,
  },
  {
    what: 'refused content',
    kind: 'BadRequestError',
    status: 400,
    type: invalid,
    code: 'content_policy_violation',
    content: '[[sim:fail=content_policy]]',
  },
  {
    what: "the upstream's rate limit",
    kind: 'RateLimitError',
    status: 429,
    type: 'rate_limit_error',
    code: 'upstream_rate_limited',
    content: '[[sim:status=429]]',
  },
  {
    what: 'an upstream that fails',
    kind: 'InternalServerError',
    status: 502,
    type: 'upstream_error',
    code: 'upstream_error',
    content: '[[sim:status=529]]',
  },
  {
    what: "the gateway's key refused",
    kind: 'InternalServerError',
    status: 502,
    type: 'upstream_error',
    code: 'upstream_permission_denied',
    content: '[[sim:status=403]]',
  },
]

/** The body as the SDK keeps it. */
const bodyOf = (error: { error: unknown }) =>
  error.error as { type: string; request_id: string; error: ErrorFields }

export function describeErrors(sdk: AnthropicPackage, stage: Stage): void {
  describe('errors', () => {
    test.each(failing)('for $what have their class, type and id', async (wanted) => {
      const { apiKey = tokens.usual, content = 'x', model = models.text } = wanted
      const client = clientOf(sdk, stage, { apiKey })
      const error = await failureOf(sdk, () =>
        client.messages.create({ ...asking(content), model }),
      )
      expect(error).toBeInstanceOf(sdk[wanted.kind])
      expect([error.status, error.type as string]).toEqual([wanted.status, wanted.type])
      expect(error.requestID).toMatch(requestIdShape)
      const body = bodyOf(error)
      expect([body.type, body.request_id]).toEqual(['error', error.requestID!])
      expect(body.error.code).toBe(wanted.code)
      expect(body.error.message).toEndWith(`(${error.requestID})`)
      expect(error.message).toContain(error.requestID!)
    })

    test('for a base address with /v1 say that it has it already', async () => {
      const client = clientOf(sdk, stage, { baseURL: `${stage.gateway.url}/v1` })
      const error = await failureOf(sdk, () => client.messages.create(asking('x')))
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(error.message).toContain('ends in /v1 already')
    })

    test('of counting are those of asking', async () => {
      const { max_tokens: _, ...countable } = asking('x')
      const client = clientOf(sdk, stage)
      const error = await failureOf(sdk, () =>
        client.messages.countTokens({ ...countable, model: 'nope' }),
      )
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(bodyOf(error).error.code).toBe('model_not_found')
    })

    test.each(['cut=9', 'error-after=9'])(
      'inside a stream come after the text before them (%s)',
      async (how) => {
        const stream = await clientOf(sdk, stage).messages.create({
          ...asking(`[[sim:tokens=30]] [[sim:${how}]]`),
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
      },
    )

    test('inside a stream fail its final message', async () => {
      const stream = clientOf(sdk, stage).messages.stream(asking('[[sim:tokens=30]] [[sim:cut=9]]'))
      const error = await failureOf(sdk, () => stream.finalMessage())
      expect(error.type as string).toBe('upstream_error')
    })
  })
}

/** A failure, and how many calls upstream it makes with one retry allowed. */
const tries: [string, string, number][] = [
  ['a rate limit', 'status=429', 2],
  ['an upstream failure', 'status=503', 2],
  // A 502 like the one before, but with x-should-retry: false.
  ['a refused key', 'status=401', 1],
  ['a refused request', 'status=400', 1],
]

export function describeRetries(sdk: AnthropicPackage, stage: Stage): void {
  describe('retries', () => {
    test.each(tries)('after %s (%s) make %d calls upstream', async (_, directive, wanted) => {
      const client = clientOf(sdk, stage, { maxRetries: 1 })
      const calls = await stage.countCalls(() =>
        failureOf(sdk, () => client.messages.create(asking(`[[sim:${directive}]]`))),
      )
      expect(calls).toBe(wanted)
    })
  })
}
