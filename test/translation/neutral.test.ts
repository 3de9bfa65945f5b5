// Defaults that clients send with every request, and requests of instructions alone, over HTTP at upstreams
// of every style that are allowed no changes.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { modelOver, type OneWireStage, startOneWire, wires } from '../support/one-wire.ts'
import { errorIn } from '../support/read.ts'

let stage: OneWireStage
beforeAll(async () => {
  const strict = () => ({ translation: 'strict' })
  stage = await startOneWire({ sandbox: { strict: true }, channel: strict })
})
afterAll(() => stage.stop())

const user = { role: 'user', content: 'Hi' }
const generate = (model: string) => `/vendorg/v1beta/models/${model}:generateContent`

test.each(wires)('over %s values that mean nothing are left out', async (wire) => {
  const model = modelOver(wire)
  const chat = { model, messages: [user], presence_penalty: 0, frequency_penalty: 0, n: 1 }
  const empty = { logit_bias: {}, stop: '', logprobs: false, tools: [], metadata: {}, user: '' }
  const generationConfig = { presencePenalty: 0, candidateCount: 1, stopSequences: [], seed: null }
  const asked: [string, object][] = [
    ['/v1/chat/completions', { ...chat, ...empty }],
    ['/v1/responses', { model, input: 'Hi', presence_penalty: 0, top_logprobs: 0, tools: [] }],
    ['/v1/messages', { model, max_tokens: 99, messages: [user], stop_sequences: [], tools: [] }],
    [generate(model), { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig, tools: [] }],
  ]
  for (const [at, [path, body]] of asked.entries()) {
    // An upstream of the caller's own style judges its own fields.
    if (at === wires.indexOf(wire)) continue
    const answer = await stage.gateway.post(path, body)
    const lost = answer.headers.get('x-gateway-translation-loss')
    expect([path, answer.status, lost]).toEqual([path, 200, null])
  }
})

test.each(wires)('over %s instructions alone are answered', async (wire) => {
  const model = modelOver(wire)
  const said = 'Say hi.'
  const asked: [string, object][] = [
    ['/v1/chat/completions', { model, messages: [{ role: 'system', content: said }] }],
    ['/v1/responses', { model, input: [{ role: 'developer', content: said }] }],
  ]
  const systemInstruction = { parts: [{ text: said }] }
  if (wire !== 'generate') asked.push([generate(model), { contents: [], systemInstruction }])
  for (const [path, body] of asked) {
    const answer = await stage.gateway.post(path, body)
    expect([path, answer.status]).toEqual([path, 200])
  }
})

test.each(wires)('over %s a request without content is refused in its own words', async (wire) => {
  const model = modelOver(wire)
  const asked: [string, object, string][] = [
    ['/v1/responses', { model, input: [] }, 'input'],
    ['/v1/messages', { model, max_tokens: 9, messages: [] }, 'messages'],
    ['/v1/chat/completions', { model, messages: [{ ...user, content: '' }] }, 'messages'],
    [generate(model), { contents: [] }, 'contents'],
  ]
  const own = ['/v1/chat/completions', '/v1/responses', '/v1/messages', generate(model)]
  for (const [path, body, field] of asked) {
    if (path === own[wires.indexOf(wire)]) continue
    const answer = await stage.gateway.post(path, body)
    expect([path, answer.status]).toEqual([path, 400])
    expect(errorIn(await answer.text()).message).toContain(`'${field}'`)
  }
})
