// Values that mean nothing are neither lost nor refused, in every style over every other; and a request
// with nothing but instructions is one.
import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../src/contract/errors.ts'
import { type Json, type StyleName, styleNames } from '../../src/styles/common/conversation.ts'
import { Losses } from '../../src/styles/common/losses.ts'
import { envelopes, target } from '../../src/styles/common/test-answers.ts'
import { ToolNames } from '../../src/styles/common/tool-names.ts'
import { styles } from '../../src/styles/index.ts'
import { usualSettings } from '../../src/styles/settings.ts'

const plain: Record<StyleName, Json> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
  messages: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  generate: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
}

const penalties = { presence_penalty: 0, frequency_penalty: 0 }
const empty = { tools: [], metadata: {}, user: '', prompt_cache_key: '', a_field: {}, another: [] }
const neutral: Record<StyleName, Json> = {
  chat: {
    ...penalties,
    ...empty,
    logit_bias: {},
    stop: '',
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    seed: null,
    store: false,
    functions: [],
    modalities: ['text'],
    response_format: { type: 'text' },
    reasoning_effort: '',
    top_k: -1,
    repetition_penalty: 1,
    min_p: 0,
    stream_options: {},
  },
  responses: {
    ...penalties,
    ...empty,
    top_logprobs: 0,
    include: [],
    store: false,
    text: {},
    reasoning: {},
    context_management: [],
    previous_response_id: '',
    background: false,
    truncation: 'disabled',
  },
  messages: {
    tools: [],
    metadata: {},
    system: '',
    stop_sequences: [],
    mcp_servers: [],
    top_k: 0,
    thinking: {},
    output_config: {},
    context_management: {},
  },
  generate: {
    tools: [],
    safetySettings: [],
    labels: {},
    cachedContent: '',
    toolConfig: {},
    generationConfig: {
      presencePenalty: 0,
      frequencyPenalty: 0,
      candidateCount: 1,
      responseLogprobs: false,
      logprobs: 0,
      stopSequences: [],
      topK: 0,
      speechConfig: {},
      response_modalities: [],
      seed: null,
    },
  },
}
/** Other spellings of nothing, each alone. */
const more: Partial<Record<StyleName, Json[]>> = {
  chat: [{ stop: [] }, { stop: [''] }, { logit_bias: { 50256: 0 } }, { top_k: 0 }],
  messages: [{ stop_sequences: [''] }],
  generate: [{ generation_config: { presence_penalty: 0, stop_sequences: [''] } }],
}

function translate(from: StyleName, to: StyleName, fields: Json): unknown {
  const losses = new Losses()
  const given = { fields, body: JSON.stringify(fields), envelopes }
  const read = styles[from].readRequest(given, losses)
  if (read instanceof Refusal) return { refused: read.extras.param }
  const upstream = target(usualSettings[to], { strict: true })
  const names = new ToolNames(read.tools, styles[to].toolName)
  const body = styles[to].writeRequest(read, upstream, names, losses)
  if (body instanceof Refusal) return { refused: body.extras.param }
  return { body, losses: losses.names }
}

const pairs = styleNames.flatMap((from) =>
  styleNames.flatMap((to) => (from === to ? [] : [[from, to] as const])),
)

describe.each(pairs)('%s over %s', (from, to) => {
  test('values that mean nothing change nothing, also where nothing may be lost', () => {
    const bare = translate(from, to, plain[from])
    expect(bare).toMatchObject({ losses: [] })
    for (const fields of [neutral[from], ...(more[from] ?? [])]) {
      expect(translate(from, to, { ...plain[from], ...fields })).toEqual(bare)
    }
  })
})

const only: Record<Exclude<StyleName, 'messages'>, Json> = {
  chat: { model: 'm', messages: [{ role: 'system', content: 'Say hi.' }] },
  responses: { model: 'm', input: [{ role: 'developer', content: 'Say hi.' }] },
  generate: { contents: [], systemInstruction: { parts: [{ text: 'Say hi.' }] } },
}

test.each(pairs.filter(([from]) => from !== 'messages'))(
  '%s over %s: instructions alone are a request',
  (from, to) => {
    const made = translate(from, to, only[from as keyof typeof only])
    expect(made).toMatchObject({ losses: [] })
    expect(JSON.stringify(made).split('Say hi.').length).toBe(2)
    if (to === 'messages') expect(made).toMatchObject({ body: { messages: [{ role: 'user' }] } })
    if (to === 'generate') expect(made).toMatchObject({ body: { contents: [{ role: 'user' }] } })
  },
)

const nothing: [StyleName, Json, string][] = [
  ['chat', { model: 'm', messages: [{ role: 'user', content: '' }] }, 'messages'],
  ['chat', { model: 'm', messages: [{ role: 'system', content: '' }] }, 'messages'],
  ['responses', { model: 'm', input: '' }, 'input'],
  ['responses', { model: 'm', input: [] }, 'input'],
  ['messages', { model: 'm', max_tokens: 9, messages: [] }, 'messages'],
  ['generate', { contents: [] }, 'contents'],
  ['generate', {}, 'contents'],
  ['generate', { contents: [{ role: 'user', parts: [] }] }, 'contents'],
]
test.each(nothing)('%s: %j is refused in its own words', (from, fields, param) => {
  for (const to of styleNames) {
    if (to !== from) expect(translate(from, to, fields)).toEqual({ refused: param })
  }
})
