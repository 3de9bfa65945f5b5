// Fields beside the conversation: which raise the bound of the output, ask for reasoning, a cache for
// an hour or compaction, and which are refused, in every style and however deep they lie.
import { describe, expect, test } from 'bun:test'
import type { TextCall } from '../../src/contract/requests.ts'
import { parseChat } from '../../src/surfaces/chat/parse.ts'
import { parseGenerate } from '../../src/surfaces/generate/parse.ts'
import { parseMessages } from '../../src/surfaces/messages/parse.ts'
import { parseResponses } from '../../src/surfaces/responses/parse.ts'
import { accepted, expectRefusal, type Parse, read } from '../../src/surfaces/text/test-parsing.ts'

const said = [{ role: 'user', content: 'hi' }]
const generate: Parse = (body) => parseGenerate(body, 'm', false)
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
type Fields = Record<string, unknown>

const styles: readonly [string, Parse, Fields][] = [
  ['chat', parseChat, { model: 'm', messages: said, max_tokens: 9 }],
  ['responses', parseResponses, { model: 'm', input: 'hi', max_output_tokens: 9 }],
  ['messages', parseMessages, { model: 'm', messages: said, max_tokens: 9 }],
  ['generate', generate, { contents, generationConfig: { maxOutputTokens: 9 } }],
]

const nested: readonly [string, (fields: Fields) => Fields][] = [
  ['itself', (fields) => fields],
  ['in extra_body', (extra_body) => ({ extra_body })],
  ['in options', (options) => ({ options })],
  ['in parameters', (parameters) => ({ parameters })],
  ['in chat_template_kwargs', (chat_template_kwargs) => ({ chat_template_kwargs })],
  ['deeper', (options) => ({ extra_body: { anything: [{ options }] } })],
  ['where nobody has seen it', (unheard_of) => ({ unheard_of })],
]

describe.each(styles)('%s', (_, parse, least) => {
  describe.each(nested)('%s', (place, within) => {
    const callOf = (fields: Fields): TextCall => accepted(parse, { ...least, ...within(fields) })

    test.each([
      ...['n_predict', 'num_predict', 'max_new_tokens', 'max_length', 'max_gen_len', 'min_tokens'],
      ...['max_tokens_to_sample', 'min_new_tokens', 'nPredict', 'maxNewTokens', 'numPredict'],
    ])('%s counts as the bound it sets', (name) => {
      expect(callOf({ [name]: 5_000 }).maxOutputTokens).toBe(5_000)
      expect(callOf({ [name]: 5 }).maxOutputTokens).toBe(9)
      expect(callOf({ [name]: null }).maxOutputTokens).toBe(9)
      expect(callOf({ [name]: -1 }).maxOutputTokens).toBeUndefined()
      expect(read(parse, { ...least, ...within({ [name]: '5000' }) })).toMatchObject({
        code: 'invalid_request',
        extras: { param: expect.stringContaining(name) },
      })
    })

    test.each<[Fields, true | undefined]>([
      [{ reasoning_effort: 'low' }, true],
      [{ reasoning_effort: 'none' }, undefined],
      [{ reasoning: { effort: 'high' } }, true],
      [{ reasoning: { max_tokens: 2_000 } }, true],
      [{ reasoning: { enabled: true } }, true],
      [{ reasoning: { enabled: false } }, undefined],
      [{ reasoning: {} }, undefined],
      [{ thinking: { type: 'enabled', budget_tokens: 50 } }, true],
      [{ thinking: { type: 'adaptive' } }, true],
      [{ thinking: { type: 'disabled' } }, undefined],
      [{ thinking: true }, true],
      [{ enable_thinking: true }, true],
      [{ enable_thinking: false }, undefined],
      [{ thinking_budget: 100 }, true],
      [{ thinking_budget: 0 }, undefined],
      [{ thinkingConfig: { thinkingBudget: -1 } }, true],
      [{ thinking_config: { thinking_level: 'LOW' } }, true],
      [{ thinkingConfig: { thinkingBudget: 0 } }, undefined],
      [{ output_config: { effort: 'low' } }, true],
      [{ output_config: { format: { type: 'json_schema', schema: {} } } }, undefined],
      [{ think: 'high' }, true],
    ])('%j asks for reasoning: %p', (fields, reasons) => {
      expect(callOf(fields).reasons).toBe(reasons!)
    })

    test('a cache of an hour and compaction are noted', () => {
      expect(callOf({ cache_control: { type: 'ephemeral', ttl: '1h' } }).hourCache).toBe(true)
      expect(callOf({ cache_control: { type: 'ephemeral', ttl: '5m' } }).hourCache).toBeUndefined()
      expect(
        callOf({ context_management: { edits: [{ type: 'compact_20260112' }] } }).compacts,
      ).toBe(true)
      expect(callOf({ context_management: [{ type: 'compaction' }] }).compacts).toBe(true)
      const clear = { edits: [{ type: 'clear_thinking_20251015' }] }
      expect(callOf({ context_management: clear }).compacts).toBeUndefined()
    })

    test.each<[string, Fields, string]>([
      ['service_tier', { service_tier: 'priority' }, 'invalid_request'],
      ['speed', { speed: 'fast' }, 'invalid_request'],
      ['audio', { audio: { voice: 'x' } }, 'invalid_request'],
      ['modalities', { modalities: ['text', 'image'] }, 'invalid_request'],
      ['deferred', { deferred: true }, 'invalid_request'],
      ['plugins', { plugins: [{ id: 'web' }] }, 'invalid_request'],
      ['mcp_servers', { mcp_servers: [{ url: 'https://a.example' }] }, 'invalid_request'],
      ['models', { models: ['dearer'] }, 'invalid_request'],
      ['fallbacks', { fallbacks: ['dearer'] }, 'invalid_request'],
      ['provider.order', { provider: { order: ['dearer'] } }, 'invalid_request'],
      ['enable_code_interpreter', { enable_code_interpreter: true }, 'invalid_request'],
      ['num_return_sequences', { num_return_sequences: 4 }, 'invalid_request'],
      ['cached_content', { cached_content: 'cachedContents/a' }, 'not_found'],
      ['file_ids', { file_ids: ['f'] }, 'not_found'],
      ['container', { container: 'c' }, 'not_found'],
      ['conversation', { conversation: 'c' }, 'not_found'],
      ['vector_store_ids', { vector_store_ids: ['v'] }, 'not_found'],
      ['preset', { preset: 'p' }, 'not_found'],
    ])('%s is refused by name', (name, fields, code) => {
      const given = read(parse, { ...least, ...within(fields) })
      // Some of it may have a price: the refusal is for models without one.
      const asked = 'asks' in given ? given.asks : undefined
      const refusal = asked?.[0]?.refusal ?? given
      expect(refusal).toMatchObject({ code })
      const { param } = (refusal as { extras: { param: string } }).extras
      const plain = (text: string) => text.replaceAll('_', '').toLowerCase()
      expect(param === 'file_id' || plain(param).endsWith(plain(name))).toBe(true)
    })

    if (place === 'itself') return

    test.each<[string, Fields]>([
      ['N_Predict', { N_Predict: 5_000 }],
      ['ｎ_predict', { ｎ_predict: 5_000 }],
      ['Max-New-Tokens', { 'Max-New-Tokens': 5_000 }],
      ['Service_Tier', { Service_Tier: 'priority' }],
      ['ServiceTier', { ServiceTier: 'priority' }],
      ['CACHED_CONTENT', { CACHED_CONTENT: 'a' }],
      ['n', { n: 3 }],
      ['best_of', { best_of: 3 }],
    ])('%s is refused, too', (name, fields) => {
      const refusal = read(parse, { ...least, ...within(fields) })
      expect(refusal).toMatchObject({ extras: { param: expect.stringContaining(name) } })
    })
  })

  test.each<[string, Fields]>([
    ['extra_body.model', { model: 'dearer' }],
    ['extra_body.messages', { messages: said }],
    ['extra_body.tools', { tools: [{ type: 'web_search' }] }],
    ['extra_body.stream', { stream: true }],
  ])('%s is refused: an upstream may merge it into the request', (name, extra_body) => {
    expectRefusal(read(parse, { ...least, extra_body }), name)
  })

  test('what is the caller’s own is not searched', () => {
    const schema = { type: 'object', properties: { n_predict: { type: 'string' }, audio: {} } }
    const call = accepted(parse, {
      ...least,
      metadata: { n_predict: 'mine', model: 'mine' },
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
      guided_json: schema,
    })
    expect([call.maxOutputTokens, call.reasons]).toEqual([9, undefined])
  })

  test('media by address in an unheard-of field leave the size open', () => {
    const isOpen = (fields: Fields) => accepted(parse, { ...least, ...fields }).inputBound.isOpen
    expect(isOpen({ user: 'me' })).toBe(false)
    expect(isOpen({ video: 'https://a.example/v' })).toBe(true)
    expect(isOpen({ documents: [{ from: { where: 'https://a.example/v' } }] })).toBe(true)
    expectRefusal(read(parse, { ...least, documents: [' FileID://f'] }), 'file_id', 'not_found')
  })
})
