// What terminal coding tools ask besides their SDK calls: probes without a token before they start,
// betas of their own, the list of models at one go, and searches for tools that they run themselves.
// test/coding-tools has the tools themselves.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  modelOver,
  type OneWireStage,
  startOneWire,
  type Wire,
  wires,
} from '../support/one-wire.ts'
import { dataLines, requestIdOf, requestIdShape } from '../support/read.ts'
import { models, tokens, useStage } from './stage.ts'

const stage = useStage()

const probes: [string, string][] = [
  ['HEAD', '/'],
  ['GET', '/'],
  ['HEAD', '/api/hello'],
  ['GET', '/api/hello'],
]
test.each(probes)('%s %s is answered without a token', async (method, path) => {
  const answer = await fetch(`${stage.gateway.url}${path}`, { method, redirect: 'manual' })
  expect(answer.status).toBe(200)
  expect(requestIdOf(answer)).toMatch(requestIdShape)
})

describe.each([
  ['an API key', { 'x-api-key': tokens.usual }],
  ['a bearer token', { authorization: `Bearer ${tokens.usual}` }],
  ['the same token twice', { 'x-api-key': tokens.usual, authorization: `Bearer ${tokens.usual}` }],
] as [string, Record<string, string>][])('with %s', (_, credentials) => {
  test.each(['2023-06-01', '2026-10-21', '2099-12-31'])(
    'a message with unknown betas and version %s is answered',
    async (version) => {
      const answer = await fetch(`${stage.gateway.url}/v1/messages?beta=true`, {
        method: 'POST',
        headers: {
          ...credentials,
          'content-type': 'application/json',
          'anthropic-version': version,
          'anthropic-beta': 'unheard-of-2031-01-01,stranger-still',
        },
        body: JSON.stringify({
          model: models.text,
          max_tokens: 20,
          messages: [{ role: 'user', content: 'hello' }],
        }),
      })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({ type: 'message', role: 'assistant' })
    },
  )

  test.each(['?limit=1000', '?client_version=1.2.3', ''])(
    'all models are listed at once (%s)',
    async (query) => {
      const answer = await fetch(`${stage.gateway.url}/v1/models${query}`, {
        headers: { ...credentials, 'anthropic-version': '2023-06-01' },
        redirect: 'manual',
      })
      expect(answer.status).toBe(200)
      const list = (await answer.json()) as { data: { id: string }[]; has_more: boolean }
      expect(list.has_more).toBe(false)
      expect(list.data.map(({ id }) => id)).toContain(models.text)
    },
  )
})

describe('with an upstream of one style,', () => {
  let oneWire: OneWireStage
  beforeAll(async () => {
    oneWire = await startOneWire()
  })
  afterAll(() => oneWire.stop())

  /** What the upstream was sent for a call that is answered. */
  async function sentFor(path: string, body: object): Promise<{ sent: string; answer: string }> {
    const since = oneWire.sandbox.asked().at(-1)?.number
    const response = await oneWire.gateway.post(path, body)
    const answer = await response.text()
    expect([response.status, answer]).toEqual([200, answer])
    return { sent: oneWire.sandbox.asked(since).at(-1)?.body ?? '', answer }
  }

  const query = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
  const translated = (own: Wire) => wires.filter((wire) => wire !== own)

  test.each(translated('messages'))(
    'a tool of messages that a search found is offered over %s, one that is deferred is not',
    async (wire) => {
      const tool = (name: string, more = {}) => ({ name, input_schema: query, ...more })
      const reference = { type: 'tool_reference', tool_name: 'NotebookEdit' }
      const call = { type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'n' } }
      const { sent } = await sentFor('/v1/messages?beta=true', {
        model: modelOver(wire),
        max_tokens: 500,
        stream: true,
        tools: [
          tool('ToolSearch'),
          tool('NotebookEdit', { defer_loading: true }),
          tool('DeferredToolPlaceholder', { defer_loading: true }),
        ],
        messages: [
          { role: 'user', content: 'Edit the notebook' },
          { role: 'assistant', content: [call] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [reference] }],
          },
        ],
      })
      expect(sent).toContain('"name":"NotebookEdit"')
      expect(sent).not.toContain('DeferredToolPlaceholder')
    },
  )

  test.each(translated('responses'))(
    'a search for tools of responses is called over %s, and what it found is offered',
    async (wire) => {
      const search = { type: 'tool_search', execution: 'client', parameters: query }
      const fields = { model: modelOver(wire), stream: true, store: false, tools: [search] }
      const question = { role: 'user', content: 'Find [[sim:tool=tool_search]]' }
      const { answer } = await sentFor('/v1/responses', { ...fields, input: [question] })
      const call = dataLines(answer)
        .map((data) => JSON.parse(data))
        .findLast(({ type }) => type === 'response.output_item.done')?.item
      expect(call).toMatchObject({
        type: 'tool_search_call',
        execution: 'client',
        arguments: { query: 'sandbox' },
      })
      const member = { type: 'function', name: 'spawn', parameters: query, defer_loading: true }
      const found = {
        type: 'tool_search_output',
        execution: 'client',
        status: 'completed',
        call_id: call.call_id,
        tools: [{ type: 'namespace', name: 'agents', tools: [member] }],
      }
      const { sent } = await sentFor('/v1/responses', { ...fields, input: [question, call, found] })
      expect(sent).toContain('"name":"agents__spawn"')
    },
  )

  test.each(wires)('a loop of generate with its own marks goes on over %s', async (wire) => {
    const { sent } = await sentFor(
      `/vendorg/v1beta/models/${modelOver(wire)}:streamGenerateContent?alt=sse`,
      {
        systemInstruction: { role: 'user', parts: [{ text: 'You are a coding tool.' }] },
        contents: [
          { role: 'user', parts: [{ text: 'Read it' }] },
          {
            role: 'model',
            parts: [
              {
                functionCall: { id: 'call_1', name: 'read_file', args: { query: 'a' } },
                thoughtSignature: 'skip_thought_signature_validator',
              },
            ],
          },
          {
            role: 'user',
            parts: [
              {
                functionResponse: {
                  id: 'call_1',
                  name: 'read_file',
                  response: { output: 'A leaf is green.' },
                },
              },
            ],
          },
        ],
        tools: [{ functionDeclarations: [{ name: 'read_file', parametersJsonSchema: query }] }],
        generationConfig: {
          temperature: 1,
          topP: 0.95,
          topK: 64,
          thinkingConfig: { includeThoughts: true },
        },
      },
    )
    expect(sent).toContain('A leaf is green.')
  })
})
