// A scripted tool loop in every text protocol, from the first call to the text that quotes the last
// result, as a coding tool would play it.
import { afterAll, describe, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { postTo } from '../testing.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const script = [
  ['Read', { path: 'a].txt' }],
  [
    ['Bash', { command: 'ls [[ ]]' }],
    ['Read', { path: 'b.txt' }],
  ],
  ['apply_patch', '*** Begin Patch\n"x" ]]'],
]
const prompt = `Please. [[sim:tools=${JSON.stringify(script)}]] Thanks.`
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const names = ['Bash', 'Read', 'apply_patch']

interface Player {
  path: string
  /** The request for a conversation of entries of this protocol. */
  body(conversation: Any[]): object
  opening: Any
  /** What the answer adds to the conversation. */
  said(answer: Any): Any[]
  calls(answer: Any): [id: string, name: string, input: unknown][]
  results(of: [id: string, name: string, text: string][]): Any[]
  text(answer: Any): string
}

const players: Record<string, Player> = {
  chat: {
    path: '/v1/chat/completions',
    body: (messages) => ({
      model: 'txta-plus',
      messages,
      tools: names.map((name) =>
        name === 'apply_patch'
          ? { type: 'custom', custom: { name } }
          : { type: 'function', function: { name, parameters } },
      ),
    }),
    opening: { role: 'user', content: prompt },
    said: ({ choices }) => [choices[0].message],
    calls: ({ choices }) =>
      (choices[0].message.tool_calls ?? []).map(({ id, function: called, custom }: Any) => [
        id,
        (called ?? custom).name,
        called ? JSON.parse(called.arguments) : custom.input,
      ]),
    results: (all) =>
      all.map(([tool_call_id, , content]) => ({ role: 'tool', tool_call_id, content })),
    text: ({ choices }) => choices[0].message.content,
  },
  responses: {
    path: '/v1/responses',
    body: (input) => ({
      model: 'txta-plus',
      input,
      tools: [
        { type: 'function', name: 'Bash', parameters },
        {
          type: 'namespace',
          name: 'files',
          tools: [{ type: 'function', name: 'Read', parameters }],
        },
        { type: 'custom', name: 'apply_patch' },
      ],
    }),
    opening: { role: 'user', content: prompt },
    said: ({ output }) => output,
    calls: ({ output }) =>
      output
        .filter((item: Any) => item.call_id)
        .map((item: Any) => [
          item.call_id,
          item.name,
          item.type === 'custom_tool_call' ? item.input : JSON.parse(item.arguments),
        ]),
    results: (all) =>
      all.map(([call_id, name, output]) => ({
        type: name === 'apply_patch' ? 'custom_tool_call_output' : 'function_call_output',
        call_id,
        output,
      })),
    text: ({ output }) => output[0].content[0].text,
  },
  messages: {
    path: '/v1/messages',
    body: (messages) => ({
      model: 'txta-plus',
      max_tokens: 1000,
      messages,
      tools: names.map((name) => ({ name, input_schema: parameters })),
    }),
    opening: { role: 'user', content: [{ type: 'text', text: prompt }] },
    said: ({ content }) => [{ role: 'assistant', content }],
    calls: ({ content }) =>
      content
        .filter(({ type }: Any) => type === 'tool_use')
        .map(({ id, name, input }: Any) => [id, name, input]),
    results: (all) => [
      {
        role: 'user',
        content: all.map(([tool_use_id, , content]) => ({
          type: 'tool_result',
          tool_use_id,
          content,
        })),
      },
    ],
    text: ({ content }) => content[0].text,
  },
  generate: {
    path: '/v1beta/models/txta-plus:generateContent',
    body: (contents) => ({
      contents,
      tools: [
        { functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: parameters })) },
      ],
    }),
    opening: { role: 'user', parts: [{ text: prompt }] },
    said: ({ candidates }) => [candidates[0].content],
    calls: ({ candidates }) =>
      candidates[0].content.parts
        .filter((part: Any) => part.functionCall)
        .map(({ functionCall: { id, name, args } }: Any) => [id, name, args]),
    results: (all) => [
      {
        role: 'user',
        parts: all.map(([, name, result]) => ({
          functionResponse: { name, response: { result } },
        })),
      },
    ],
    text: ({ candidates }) => candidates[0].content.parts[0].text,
  },
}

const isFreeForm = { chat: true, responses: true } as Record<string, boolean>

describe.each(Object.entries(players))('%s', (protocol, player) => {
  const ask = async (conversation: Any[]): Promise<Any> =>
    (await postTo(sandbox.url + player.path, player.body(conversation))).json()

  test('plays every step and quotes the last result', async () => {
    const conversation = [player.opening]
    const played: unknown[] = []
    let answer = await ask(conversation)
    for (let calls = player.calls(answer); calls.length > 0; calls = player.calls(answer)) {
      played.push(calls.map(([, name, input]) => [name, input]))
      const results = calls.map(([id, name], at): [string, string, string] => [
        id,
        name,
        `result ${played.length}.${at} [[sim:tool]]`,
      ])
      conversation.push(...player.said(answer), ...player.results(results))
      answer = await ask(conversation)
    }
    const patch = script[2]![1]
    expect(played).toEqual([
      [['Read', { path: 'a].txt' }]],
      [
        ['Bash', { command: 'ls [[ ]]' }],
        ['Read', { path: 'b.txt' }],
      ],
      [['apply_patch', isFreeForm[protocol] ? patch : { input: patch }]],
    ])
    expect(player.text(answer)).toContain('Done. The last result was: ')
    expect(player.text(answer)).toContain('result 3.0')
  })
})

const chat = async (text: string, tools: Any[]): Promise<Any> => {
  const messages = [{ role: 'user', content: text }]
  const body = { model: 'txta-plus', messages, tools }
  return (await postTo(`${sandbox.url}/v1/chat/completions`, body)).json()
}
const tool = (name: string) => ({ type: 'function', function: { name } })
const calledBy = ({ choices }: Any) => choices[0].message.tool_calls?.[0].function.name

test('only tools that are offered are called', async () => {
  const answer = await chat('[[sim:tools=[["Write",{}]]]]', [tool('Read')])
  expect(answer.choices[0].message.content).toBe('The tool Write is not offered.')
  expect((await chat('[[sim:tools=[["Write",{}]]]]', [])).choices[0].finish_reason).toBe('stop')
})

test('a tool is found by its namespace and by what is left of a long name', async () => {
  const long = `mcp__${'server'.repeat(12)}__tool`
  const kept = `${long.slice(0, 47)}_0123456789abcdef`
  expect(calledBy(await chat(`[[sim:tools=[["${long}"]]]]`, [tool('a'), tool(kept)]))).toBe(kept)
  const tools = [
    { type: 'namespace', name: 'files', tools: [{ type: 'function', name: 'read' }] },
    { type: 'function', name: 'other' },
  ]
  const input = '[[sim:tools=[["files__read",{"a":1}]]]]'
  const body = { model: 'txta-plus', input, tools }
  const answer: Any = await (await postTo(`${sandbox.url}/v1/responses`, body)).json()
  expect(answer.output).toMatchObject([
    { type: 'function_call', name: 'read', namespace: 'files', arguments: '{"a":1}' },
  ])
})

test('what is not a script is text', async () => {
  for (const text of ['[[sim:tools=[["a"]', '[[sim:tools={}]]', '[[sim:tools=[[1]]]]']) {
    expect(calledBy(await chat(text, [tool('a')]))).toBeUndefined()
  }
})
