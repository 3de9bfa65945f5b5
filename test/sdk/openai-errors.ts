// How failures look to users of the `openai` package.
import { describe, expect, test } from 'bun:test'
import { requestIdShape } from '../support/read.ts'
import { breaking, type ErrorClass, type Failing, refusals, upstreamFailures } from './failures.ts'
import { type Client, clientOf, failureOf, type OpenAIPackage, says } from './openai-client.ts'
import { models, type Over, type Stage, tokens } from './stage.ts'

type Ask = (client: Client, model: string, content: string) => Promise<unknown>

const chat: Ask = (client, model, content) =>
  client.chat.completions.create({ model, messages: says(content) })
const responses: Ask = (client, model, input) => client.responses.create({ model, input })
const embeddings: Ask = (client, model, input) => client.embeddings.create({ model, input })

/** The class and the type of an error, by its status. */
const shown: Readonly<Record<number, readonly [ErrorClass, string]>> = {
  400: ['BadRequestError', 'invalid_request_error'],
  401: ['AuthenticationError', 'authentication_error'],
  402: ['APIError', 'insufficient_quota'],
  403: ['PermissionDeniedError', 'permission_error'],
  404: ['NotFoundError', 'invalid_request_error'],
  429: ['RateLimitError', 'rate_limit_error'],
  502: ['InternalServerError', 'upstream_error'],
  503: ['InternalServerError', 'server_error'],
}

async function expectFailure(
  sdk: OpenAIPackage,
  stage: Stage,
  ask: Ask,
  { status, code, token = tokens.usual, model = '', content = 'x' }: Failing,
): Promise<void> {
  const client = clientOf(sdk, stage, { apiKey: token })
  const error = await failureOf(sdk, () => ask(client, model, content))
  const [kind, type] = shown[status]!
  expect(error).toBeInstanceOf(sdk[kind])
  expect([error.status, error.code, error.type]).toEqual([status, code, type])
  expect(error.requestID).toMatch(requestIdShape)
  expect(error.message).toEndWith(`(${error.requestID})`)
}

/** Those that come from upstream. */
export function describeFailures(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
  describe.each([
    ['chat', chat],
    ['responses', responses],
  ])('errors of %s', (_, ask) => {
    test.each(upstreamFailures)('for $what have their class, code, type and id', (failing) =>
      expectFailure(sdk, stage, ask, { model, ...failing }),
    )
  })
}

/** Those that are the same whatever the upstream speaks. */
export function describeRefusals(sdk: OpenAIPackage, stage: Stage): void {
  const failing = (own: string, other: string) =>
    [...refusals, ...upstreamFailures].map((each) => ({
      ...each,
      model: each.model === models.embedding ? other : (each.model ?? own),
    }))

  describe.each([
    ['chat', chat, failing(models.text, models.embedding)],
    ['responses', responses, failing(models.text, models.embedding)],
    ['embeddings', embeddings, failing(models.embedding, models.text)],
  ])('errors of %s', (_, ask, all) => {
    test.each(all)('for $what have their class, code, type and id', (each) =>
      expectFailure(sdk, stage, ask, each),
    )
  })

  describe('errors', () => {
    const model = models.text

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
        for (let i = 0; i < 2; i++) await chat(client, model, '[[sim:tokens=1]]')
      })
      expect(error).toBeInstanceOf(sdk.RateLimitError)
      expect([error.code, error.type]).toEqual(['rate_limit_exceeded', 'rate_limit_error'])
      expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0)
    })

    test('for a base address without /v1 say what was meant', async () => {
      const client = clientOf(sdk, stage, { baseURL: stage.gateway.url })
      const error = await failureOf(sdk, () => chat(client, model, 'x'))
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(error.message).toContain('did you mean /v1/chat/completions?')
    })
  })
}

/** A stream that ends too early. */
export function describeBrokenStreams(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
  const readChat = async (content: string, take: (text: string) => void) => {
    const request = { model, messages: says(content), stream: true } as const
    for await (const { choices } of await clientOf(sdk, stage).chat.completions.create(request)) {
      take(choices[0]?.delta.content ?? '')
    }
  }
  const readResponses = async (input: string, take: (text: string) => void) => {
    const request = { model, input, stream: true } as const
    for await (const event of await clientOf(sdk, stage).responses.create(request)) {
      if (event.type === 'response.output_text.delta') take(event.delta)
    }
  }

  describe('a stream that breaks', () => {
    describe.each([
      ['chat', readChat],
      ['responses', readResponses],
    ])('in %s', (_, read) => {
      test.each(breaking)('is an APIError after the text before it (%s)', async (how) => {
        let text = ''
        const take = (piece: string) => {
          text += piece
        }
        const error = await failureOf(sdk, () => read(`[[sim:tokens=20]] [[sim:${how}]]`, take))
        expect(text).not.toBe('')
        expectBroken(error)
      })

      test('is an APIError also when it breaks before any text', async () => {
        const error = await failureOf(sdk, () => read('[[sim:tokens=20]] [[sim:cut=3]]', () => {}))
        expectBroken(error)
      })
    })

    test.each(breaking)('fails the final response of the stream helper (%s)', async (how) => {
      const input = `[[sim:tokens=20]] [[sim:${how}]]`
      const error = await failureOf(sdk, () =>
        clientOf(sdk, stage).responses.stream({ model, input }).finalResponse(),
      )
      expectBroken(error)
    })
  })
}

interface Broken {
  code?: string | null | undefined
  type?: string | undefined
  message: string
  requestID: string | null | undefined
}

function expectBroken(error: Broken): void {
  expect([error.code, error.type]).toEqual(['upstream_error', 'upstream_error'])
  expect(error.requestID).toMatch(requestIdShape)
  expect(error.message).toEndWith(`(${error.requestID})`)
}
