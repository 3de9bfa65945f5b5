// How failures look to users of the `openai` package, and what it tries again by itself.
import { describe, expect, test } from 'bun:test'
import { requestIdShape } from '../support/read.ts'
import { type Client, clientOf, failureOf, type OpenAIPackage, says } from './openai-client.ts'
import { models, type Stage, tokens } from './stage.ts'

const model = models.text

interface Style {
  style: string
  /** A model that has it. */
  own: string
  /** A model that lacks it. */
  other: string
  ask(client: Client, model: string, content: string): Promise<unknown>
}

const styles: Style[] = [
  {
    style: 'chat',
    own: model,
    other: models.embedding,
    ask: (client, model, content) =>
      client.chat.completions.create({ model, messages: says(content) }),
  },
  {
    style: 'responses',
    own: model,
    other: models.embedding,
    ask: (client, model, input) => client.responses.create({ model, input }),
  },
  {
    style: 'embeddings',
    own: models.embedding,
    other: model,
    ask: (client, model, input) => client.embeddings.create({ model, input }),
  },
]

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
  code: string
  type: string
  content?: string
  model?: 'unknown' | 'other'
  apiKey?: string
}

const invalid = 'invalid_request_error'
const failing: Failing[] = [
  {
    what: 'an unknown token',
    kind: 'AuthenticationError',
    status: 401,
    code: 'invalid_api_key',
    type: 'authentication_error',
    apiKey: tokens.unknown,
  },
  {
    what: 'a token used elsewhere',
    kind: 'PermissionDeniedError',
    status: 403,
    code: 'ip_not_allowed',
    type: 'permission_error',
    apiKey: tokens.elsewhere,
  },
  {
    what: 'an empty account',
    kind: 'APIError',
    status: 402,
    code: 'insufficient_quota',
    type: 'insufficient_quota',
    apiKey: tokens.broke,
  },
  {
    what: 'an unknown model',
    kind: 'NotFoundError',
    status: 404,
    code: 'model_not_found',
    type: invalid,
    model: 'unknown',
  },
  {
    what: 'a model of another interface',
    kind: 'BadRequestError',
    status: 400,
    code: 'model_not_supported',
    type: invalid,
    model: 'other',
  },
  {
    what: "the upstream's refusal",
    kind: 'BadRequestError',
    status: 400,
    code: 'upstream_invalid_request',
    type: invalid,
    content: '[[sim:status=400]]',
  },
  {
    what: 'refused content',
    kind: 'BadRequestError',
    status: 400,
    code: 'content_policy_violation',
    type: invalid,
    content: '[[sim:fail=content_policy]]',
  },
  {
    what: "the upstream's rate limit",
    kind: 'RateLimitError',
    status: 429,
    code: 'upstream_rate_limited',
    type: 'rate_limit_error',
    content: '[[sim:status=429]]',
  },
  {
    what: 'an upstream that fails',
    kind: 'InternalServerError',
    status: 502,
    code: 'upstream_error',
    type: 'upstream_error',
    content: '[[sim:fail]]',
  },
  {
    what: "the gateway's key refused",
    kind: 'InternalServerError',
    status: 502,
    code: 'upstream_permission_denied',
    type: 'upstream_error',
    content: '[[sim:status=401]]',
  },
]

export function describeErrors(sdk: OpenAIPackage, stage: Stage): void {
  describe.each(styles)('errors of $style', ({ own, other, ask }) => {
    test.each(failing)('for $what have their class, code, type and id', async (wanted) => {
      const { apiKey = tokens.usual, content = 'x' } = wanted
      const named = { own, other, unknown: 'nope' }[wanted.model ?? 'own']
      const error = await failureOf(sdk, () =>
        ask(clientOf(sdk, stage, { apiKey }), named, content),
      )
      expect(error).toBeInstanceOf(sdk[wanted.kind])
      expect([error.status, error.code, error.type]).toEqual([
        wanted.status,
        wanted.code,
        wanted.type,
      ])
      expect(error.requestID).toMatch(requestIdShape)
      expect(error.message).toEndWith(`(${error.requestID})`)
    })
  })

  describe('errors', () => {
    test('name the field that is wrong', async () => {
      const client = clientOf(sdk, stage)
      const error = await failureOf(sdk, () =>
        client.chat.completions.create({ model, messages: says('x'), n: 0 }),
      )
      expect(error).toBeInstanceOf(sdk.BadRequestError)
      expect([error.code, error.param]).toEqual(['invalid_request', 'n'])
    })

    test("for the gateway's own rate limit say when to come again", async () => {
      const client = clientOf(sdk, stage, { apiKey: tokens.slow })
      const error = await failureOf(sdk, async () => {
        for (let i = 0; i < 2; i++) {
          await client.chat.completions.create({ model, messages: says('[[sim:tokens=1]]') })
        }
      })
      expect(error).toBeInstanceOf(sdk.RateLimitError)
      expect([error.code, error.type]).toEqual(['rate_limit_exceeded', 'rate_limit_error'])
      expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0)
    })

    test('for a base address without /v1 say what was meant', async () => {
      const client = clientOf(sdk, stage, { baseURL: stage.gateway.url })
      const error = await failureOf(sdk, () =>
        client.chat.completions.create({ model, messages: says('x') }),
      )
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(error.message).toContain('did you mean /v1/chat/completions?')
    })

    test('for a time-out are a 504', async () => {
      const error = await failureOf(sdk, () =>
        clientOf(sdk, stage).responses.create({ model, input: '[[sim:hang]]' }),
      )
      expect(error).toBeInstanceOf(sdk.InternalServerError)
      expect([error.status, error.code]).toEqual([504, 'upstream_timeout'])
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

export function describeRetries(sdk: OpenAIPackage, stage: Stage): void {
  describe('retries', () => {
    test.each(tries)('after %s (%s) make %d calls upstream', async (_, directive, wanted) => {
      const client = clientOf(sdk, stage, { maxRetries: 1 })
      const calls = await stage.countCalls(() =>
        failureOf(sdk, () =>
          client.chat.completions.create({ model, messages: says(`[[sim:${directive}]]`) }),
        ),
      )
      expect(calls).toBe(wanted)
    })
  })
}
