// What terminal coding tools ask besides their SDK calls: probes without a token before they start,
// betas of their own, and the list of models at one go.
import { describe, expect, test } from 'bun:test'
import { requestIdOf, requestIdShape } from '../support/read.ts'
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
