// Requests that are expensive to translate: many small parts of each kind, in an order that needs a search,
// and schemas that grow. Refuses to know how they are answered.

interface HostileBody {
  path: string
  type: string
  body: string
}

const json = 'application/json'
export const wires = ['chat', 'responses', 'messages', 'generate'] as const
export type Wire = (typeof wires)[number]
type Make = (count: number) => object

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const ask = { role: 'user', content: 'a' }
const said = { role: 'user', parts: [{ text: 'a' }] }
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const object = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

/** A schema that refers to one text so many times. */
const referring = (count: number) => ({
  type: 'object',
  properties: Object.fromEntries(list(count, (at) => [`p${at}`, { $ref: '#/$defs/a' }])),
  $defs: { a: { description: 'x'.repeat(100_000) } },
})

let nested: object = { minimum: 1 }
for (let depth = 0; depth < 25; depth++) nested = { not: nested }

/** By the caller's style. Each is of about a megabyte for 8,000 parts. */
const shapes: Readonly<Record<Wire, Readonly<Record<string, Make>>>> = {
  chat: {
    messages: (count) => ({ messages: list(4 * count, () => ask) }),
    parts: (count) => ({
      messages: [{ role: 'user', content: list(4 * count, () => ({ type: 'text', text: 'a' })) }],
    }),
    tools: (count) => ({
      messages: [ask],
      tools: list(count, (at) => ({
        type: 'function',
        function: { name: `odd.name ${at}`, parameters: object, strict: true },
      })),
    }),
    'results in reverse': (count) => ({
      messages: [
        ask,
        { role: 'assistant', tool_calls: list(count, (at) => call(`c${at}`)) },
        ...list(count, (at) => ({
          role: 'tool',
          tool_call_id: `c${count - 1 - at}`,
          content: 'b',
        })),
      ],
    }),
    references: (count) => ({
      messages: [ask],
      tools: [{ type: 'function', function: { name: 'f', parameters: referring(count) } }],
    }),
    'constraints in constraints': () => ({
      messages: [ask],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: nested } },
    }),
    'JSON in arguments': (count) => ({
      messages: [
        ask,
        {
          role: 'assistant',
          tool_calls: [
            { ...call('c'), function: { name: 'f', arguments: `[${'[],'.repeat(40 * count)}0]` } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'b' },
      ],
    }),
  },
  responses: {
    'results in reverse': (count) => ({
      input: [
        ask,
        ...list(count, (at) => ({
          type: 'function_call',
          call_id: `c${at}`,
          name: 'f',
          arguments: '{}',
        })),
        ...list(count, (at) => ({
          type: 'function_call_output',
          call_id: `c${count - 1 - at}`,
          output: 'b',
        })),
      ],
    }),
    'reasoning after calls': (count) => ({
      input: [
        ask,
        ...list(count, (at) => ({
          type: 'function_call',
          call_id: `c${at}`,
          name: 'f',
          arguments: '{}',
        })),
        ...list(count, () => ({ type: 'reasoning', summary: [] })),
        ask,
      ],
    }),
    'a long namespace': (count) => ({
      input: 'a',
      tools: [
        {
          type: 'namespace',
          name: 'n'.repeat(60 * count),
          tools: list(count, (at) => ({ type: 'function', name: `t${at}` })),
        },
      ],
    }),
    instructions: (count) => ({ input: 'a', instructions: 'a'.repeat(120 * count) }),
  },
  messages: {
    blocks: (count) => ({
      max_tokens: 20,
      messages: [{ role: 'user', content: list(4 * count, () => ({ type: 'text', text: 'a' })) }],
    }),
    'results in reverse': (count) => ({
      max_tokens: 20,
      messages: [
        ask,
        {
          role: 'assistant',
          content: list(count, (at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })),
        },
        {
          role: 'user',
          content: list(count, (at) => ({
            type: 'tool_result',
            tool_use_id: `c${count - 1 - at}`,
            content: 'b',
          })),
        },
      ],
    }),
    'dots in a signature': (count) => ({
      max_tokens: 20,
      messages: [
        ask,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: `gw1${'.'.repeat(120 * count)}` },
          ],
        },
        ask,
      ],
    }),
  },
  generate: {
    'results in reverse': (count) => ({
      contents: [
        said,
        {
          role: 'model',
          parts: list(count, (at) => ({ functionCall: { id: `c${at}`, name: 'f', args: {} } })),
        },
        {
          role: 'user',
          parts: list(count, (at) => ({
            functionResponse: {
              id: `c${count - 1 - at}`,
              name: 'f',
              response: { result: 'b' },
            },
          })),
        },
      ],
    }),
    tools: (count) => ({
      contents: [said],
      tools: [
        { functionDeclarations: list(count, (at) => ({ name: `t${at}`, parameters: object })) },
      ],
    }),
  },
}

export const paths: Readonly<Record<Wire, (model: string) => string>> = {
  chat: () => '/v1/chat/completions',
  responses: () => '/v1/responses',
  messages: () => '/v1/messages',
  generate: (model) => `/vendorg/v1beta/models/${model}:generateContent`,
}

/** A model whose upstream speaks one style only. */
const modelOver = (wire: Wire): string => `bench-over-${wire}`
export const hostileModels = wires.map((wire) => ({ wire, model: modelOver(wire) }))

const bodyOf = (from: Wire, to: Wire, make: Make, count: number): HostileBody => {
  const model = modelOver(to)
  const named = from === 'generate' ? {} : { model }
  return {
    path: paths[from](model),
    type: json,
    body: JSON.stringify({ ...named, ...make(count) }),
  }
}

/** About a megabyte for each. */
const usualParts = 8_000

/** By name: each shape of each style, for each upstream of another; of so many parts. */
export const hostileShapes: Readonly<Record<string, (parts: number) => HostileBody>> =
  Object.fromEntries(
    wires.flatMap((from) =>
      Object.entries(shapes[from]).flatMap(([shape, make]) =>
        wires
          .filter((to) => to !== from)
          .map(
            (to) => [`${from}>${to}: ${shape}`, (parts) => bodyOf(from, to, make, parts)] as const,
          ),
      ),
    ),
  )

/** The same at their usual size; the argument of the other bodies does not change it. */
export const hostileBodies: Readonly<Record<string, () => HostileBody>> = Object.fromEntries(
  Object.entries(hostileShapes).map(([name, make]) => [name, () => make(usualParts)]),
)
