// Sealed reasoning goes back to the upstream that made it and to no other: not to another style, not to
// another maker of the same style after a failure, and no envelope of the gateway to any upstream.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'x',
  content: [{ type: 'text', text: 'Done.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 5 },
}
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'x',
  error: null,
  output: [
    {
      type: 'reasoning',
      id: 'rs_7',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'sealed-by-first',
    },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"a":1}' },
  ],
  usage: { input_tokens: 10, output_tokens: 5 },
}

/** Two makers, each with an address of its own; whether each is well is up to the test. */
let makers: TestUpstream[]
const isWell = [true, true]
/** What the first refuses in a request, and whether by an event of a stream. */
let refuses: string | undefined
let inStream = false
const badSeal = 'messages.1.content.0: Invalid `signature` in `thinking` block'

const eventReply = (event: object): Response =>
  new Response(`event: error\ndata: ${JSON.stringify(event)}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })
let gateway: TestGateway

beforeAll(async () => {
  makers = [0, 1].map((index) =>
    startUpstream(({ path, body }) => {
      if (index === 0 && refuses !== undefined && body.includes(refuses)) {
        const error = { type: 'invalid_request_error', message: badSeal }
        return inStream
          ? eventReply({ type: 'error', error })
          : jsonReply({ error }, { status: 400 })
      }
      if (!isWell[index]) return jsonReply({ error: { message: 'no' } }, { status: 500 })
      return jsonReply(path.endsWith('/messages') ? message : response)
    }),
  )
  const [first, second] = makers
  const channel = (name: string, priority: number, protocols: object, models: string[]) => ({
    name,
    priority,
    keys: [`upk-${name}-0123456789`],
    protocols,
    models: Object.fromEntries(models.map((model) => [model, 'x'])),
  })
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: [
        channel('first', 10, { messages: first!.url }, ['native']),
        channel('second', 0, { messages: second!.url }, ['native', 'mine']),
        channel('sealing', 5, { responses: `${first!.url}/v1` }, ['sealed']),
        channel('other', 0, { responses: `${second!.url}/v1` }, ['sealed']),
      ],
      models: ['native', 'mine', 'sealed'].map((name) => ({
        name,
        kind: 'text',
        interfaces: [name === 'sealed' ? 'responses' : 'messages'],
      })),
      prices: ['native', 'mine', 'sealed'].map((model) => ({
        model,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
})
afterAll(async () => {
  await gateway.stop()
  for (const each of makers) await each.stop()
})

const ask = async (model: string, assistant: readonly object[]) => {
  for (const each of makers) each.calls.length = 0
  const answer = await gateway.post('/v1/messages', {
    model,
    max_tokens: 100,
    tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
    messages: [
      { role: 'user', content: 'Look.' },
      ...(assistant.length === 0
        ? []
        : [
            { role: 'assistant', content: assistant },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }],
            },
          ]),
    ],
  })
  expect(answer.status).toBe(200)
  return { answer, body: (await answer.json()) as Any }
}

const call = { type: 'tool_use', id: 'call_1', name: 'look', input: { n: 1 } }
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'signed-by-first' }

test('the maker gets its seal back as it came, another one after a failure does not', async () => {
  const { answer } = await ask('native', [thinking, call])
  expect(answer.headers.get('x-gateway-translation')).toBeNull()
  expect(makers[0]!.calls[0]!.body).toContain('signed-by-first')
  isWell[0] = false
  const { answer: other } = await ask('native', [thinking, call])
  isWell[0] = true
  expect(makers[0]!.calls[0]!.body).toContain('signed-by-first')
  const sent = JSON.parse(makers[1]!.calls[0]!.body) as Any
  expect(JSON.stringify(sent)).not.toContain('signed-by-first')
  expect(sent.messages[1].content).toEqual([call])
  expect(other.headers.get('x-gateway-translation-loss')).toBe('thinking.signature')
})

test('an envelope is opened for its maker, and leaves no trace anywhere else', async () => {
  const { answer, body } = await ask('sealed', [])
  expect(answer.headers.get('x-gateway-translation')).toBe('messages>responses')
  const [sealed, made] = body.content
  expect([sealed.type, sealed.thinking, made.type]).toEqual(['thinking', 'Hm.', 'tool_use'])
  expect(sealed.signature).toStartWith('gateway2')
  const history = [sealed, { ...made, id: 'call_1' }]

  await ask('sealed', history)
  const back = JSON.parse(makers[0]!.calls[0]!.body) as Any
  expect(back.input).toContainEqual(
    expect.objectContaining({ id: 'rs_7', encrypted_content: 'sealed-by-first' }),
  )

  isWell[0] = false
  await ask('sealed', history)
  isWell[0] = true
  expect(makers[1]!.calls[0]!.body).not.toMatch(/sealed-by-first|gateway2|"reasoning","/)

  const { answer: native } = await ask('mine', history)
  const sent = JSON.parse(makers[1]!.calls[0]!.body) as Any
  expect(sent.messages[1].content).toEqual([{ ...made, id: 'call_1' }])
  expect(native.headers.get('x-gateway-translation-loss')).toBe('thinking.signature')
})

test('a seal that its upstream refuses is sent once, then the call goes without any', async () => {
  refuses = 'signed-by-first'
  const redacted = { type: 'redacted_thinking', data: 'also-by-first' }
  const { answer } = await ask('native', [thinking, redacted, call])
  expect(makers[0]!.calls.length).toBe(2)
  const again = makers[0]!.calls[1]!.body
  expect(again).not.toMatch(/signed-by-first|also-by-first|thinking/)
  expect(answer.headers.get('x-gateway-translation-loss')).toBe('thinking.signature')

  refuses = undefined
  const { body } = await ask('sealed', [])
  refuses = 'sealed-by-first'
  const { answer: other } = await ask('sealed', [body.content[0], { ...body.content[1] }])
  refuses = undefined
  expect(makers[0]!.calls.length).toBe(2)
  expect(makers[0]!.calls[1]!.body).not.toMatch(/sealed-by-first|gateway2/)
  expect(other.headers.get('x-gateway-translation-loss')).toContain('thinking.signature')
})

test('a seal that is refused by the first event of a stream is no other case', async () => {
  const [first] = makers
  const body = {
    model: 'native',
    max_tokens: 100,
    stream: true,
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Seen.' }] },
      { role: 'user', content: 'Go on.' },
    ],
  }
  const asked = async () => {
    first!.calls.length = 0
    inStream = true
    const answer = await gateway.post('/v1/messages', body)
    inStream = false
    return { status: answer.status, text: await answer.text(), calls: first!.calls.length }
  }
  refuses = 'signed-by-first'
  const answered = await asked()
  expect(answered).toMatchObject({ status: 200, calls: 2 })
  expect(answered.text).toContain('Done.')
  // Whatever it gets: its second refusal is the answer.
  refuses = 'Look.'
  const refused = await asked()
  refuses = undefined
  expect(refused).toMatchObject({ status: 400, calls: 2 })
  expect(refused.text).toContain(badSeal)
})
