// Seals of reasoning that an upstream did not make are taken out of a request of its own style; all else
// stays as it is.
import { describe, expect, test } from 'bun:test'
import type { Json } from '../../src/styles/common/conversation.ts'
import { isEnvelope } from '../../src/styles/common/envelope.ts'
import { envelopes } from '../../src/styles/common/test-answers.ts'
import { styles } from '../../src/styles/index.ts'

const envelope = envelopes.wrap({ realm: 'chat elsewhere.example', data: 'sig==', text: 'Hm.' })
const user = { role: 'user', content: 'Hi' }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] }
const big = { id: 'i', n: 12 }

/** A request with a seal of that kind, and the same without. */
const requests: Record<string, (seal: string) => [given: Json, stripped: Json]> = {
  chat: (seal) => {
    const call = { id: 'i', type: 'function', function: { name: 'f', arguments: '{}' } }
    const message = { role: 'assistant', content: 'a', reasoning_content: 'Hm.' }
    const extra_content = { google: { thought_signature: seal } }
    return [
      {
        messages: [
          user,
          {
            ...message,
            reasoning_details: [{ type: 'reasoning.encrypted', data: seal }, { text: 'kept' }],
            tool_calls: [{ ...call, extra_content }],
          },
        ],
        x: big,
      },
      {
        messages: [user, { ...message, reasoning_details: [{ text: 'kept' }], tool_calls: [call] }],
        x: big,
      },
    ]
  },
  responses: (seal) => [
    { input: [user, { type: 'reasoning', id: 'r', summary: [], encrypted_content: seal }, big] },
    { input: [user, big] },
  ],
  messages: (seal) => [
    {
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      messages: [
        user,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: seal },
            { type: 'redacted_thinking', data: seal },
            { type: 'tool_use', id: 't', name: 'f', input: big },
          ],
        },
        result,
      ],
    },
    {
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: big }] },
        result,
      ],
    },
  ],
  generate: (seal) => [
    {
      contents: [
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true, thoughtSignature: seal },
            { text: 'a', thought_signature: seal },
            { functionCall: { name: 'f', args: big }, thoughtSignature: seal },
            { text: '', thoughtSignature: seal },
          ],
        },
      ],
    },
    {
      contents: [
        {
          role: 'model',
          parts: [
            { text: 'a' },
            {
              functionCall: { name: 'f', args: big },
              thoughtSignature: 'skip_thought_signature_validator',
            },
          ],
        },
      ],
    },
  ],
}

const isOurs = (seal: unknown): boolean => typeof seal === 'string' && isEnvelope(seal)

describe.each(Object.values(styles).map((style) => [style.name, style] as const))(
  'a request of the style %s',
  (name, style) => {
    const make = requests[name]!

    test('loses the envelopes of this gateway', () => {
      const [given, stripped] = make(envelope)
      expect(style.stripSeals(given, isOurs)).toEqual(stripped)
    })

    test('keeps the seals of its upstream, and is then the same object', () => {
      const [given, stripped] = make('CiQBraw==')
      expect(style.stripSeals(given, isOurs)).toBe(given)
      expect(style.stripSeals(stripped, () => false)).toBe(stripped)
    })

    test('loses the seals of another maker', () => {
      const [given, stripped] = make('CiQBraw==')
      expect(style.stripSeals(given, (seal) => typeof seal === 'string')).toEqual(stripped)
    })
  },
)

describe('a request without any reasoning', () => {
  const isAny = () => true
  const budget = { thinking: { type: 'enabled', budget_tokens: 2_000 } }
  const unsigned = { type: 'thinking', thinking: 'Hm.', signature: '' }

  test('messages: thinking without a signature goes, and a message with nothing else', () => {
    const { stripSeals } = styles.messages
    const only = { role: 'assistant', content: [unsigned] }
    expect(stripSeals({ ...budget, messages: [user, only, user] }, isAny)).toEqual({
      ...budget,
      messages: [user, user],
    })
  })

  test('messages: rules that clear thinking go with it, others stay', () => {
    const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
    const edits = [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }]
    const given = {
      ...budget,
      context_management: { edits },
      messages: [user, { role: 'assistant', content: [unsigned, call] }, result],
    }
    expect(styles.messages.stripSeals(given, isAny)).toEqual({
      context_management: { edits: edits.slice(1) },
      messages: [user, { role: 'assistant', content: [call] }, result],
    })
    const adaptive = { ...given, thinking: { type: 'adaptive' } }
    expect(styles.messages.stripSeals(adaptive, isAny)).toMatchObject({
      thinking: { type: 'adaptive' },
      context_management: { edits },
    })
  })

  test('responses: items lose the ids that bind them to it', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
    const given = { input: [user, { type: 'reasoning', id: 'rs_1' }, { ...call, id: 'fc_1' }] }
    expect(styles.responses.stripSeals(given, isAny)).toEqual({ input: [user, call] })
  })

  test('generate: the first call of each turn says that it has none', () => {
    const call = { functionCall: { name: 'f', args: {} } }
    const noSeal = { thoughtSignature: 'skip_thought_signature_validator' }
    const turn = (parts: readonly object[]) => ({ role: 'model', parts })
    const thought = { text: 'Hm.', thought: true }
    const given = { contents: [turn([thought, call, call]), turn([thought]), turn([call])] }
    const stripped = {
      contents: [turn([{ ...call, ...noSeal }, call]), turn([{ ...call, ...noSeal }])],
    }
    expect(styles.generate.stripSeals(given, isAny)).toEqual(stripped)
    expect(styles.generate.stripSeals(stripped, isAny)).toBe(stripped)
  })
})
