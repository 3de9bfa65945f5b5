// A conversation with sealed reasoning in each text style that has it: a call of a tool, and then its
// result.

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

export const wires = ['responses', 'messages', 'generate'] as const
export type Wire = (typeof wires)[number]

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const prompt = '[[sim:tools=[["weather",{"city":"Paris"}]]]] [[sim:reasoning=4]]'

export const callers: Record<Wire, Any> = {
  responses: {
    path: () => '/v1/responses',
    body: (model: string, input: Any[]) => ({
      model,
      input: [{ role: 'user', content: prompt }, ...input],
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high' },
      tools: [{ type: 'function', name: 'weather', parameters: schema, strict: false }],
    }),
    // Without ids, as coding tools send items: an id belongs to the upstream that keeps it.
    goOn: ({ output }: Any) => [
      ...output.map(({ id: _, ...item }: Any) => item),
      {
        type: 'function_call_output',
        // The seal of a call may come after it, as an item of its own.
        call_id: output.find(({ type }: Any) => type === 'function_call').call_id,
        output: 'sunny',
      },
    ],
  },
  messages: {
    path: () => '/v1/messages',
    body: (model: string, messages: Any[]) => ({
      model,
      max_tokens: 8000,
      thinking: { type: 'adaptive' },
      messages: [{ role: 'user', content: prompt }, ...messages],
      tools: [{ name: 'weather', input_schema: schema }],
    }),
    goOn: ({ content }: Any) => [
      { role: 'assistant', content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: content.at(-1).id, content: 'sunny' }],
      },
    ],
  },
  generate: {
    path: (model: string) => `/vendorg/v1beta/models/${model}:generateContent`,
    body: (_: string, contents: Any[]) => ({
      contents: [{ role: 'user', parts: [{ text: prompt }] }, ...contents],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }],
    }),
    goOn: ({ candidates }: Any) => {
      const { functionCall } = candidates[0].content.parts.at(-1)
      const { id, name } = functionCall
      const result = { functionResponse: { id, name, response: { result: 'sunny' } } }
      return [candidates[0].content, { role: 'user', parts: [result] }]
    },
  },
}

/** Seals in a request, without the text that stands for one. */
export const seals = /"(?:signature|encrypted_content|thoughtSignature)":"(?!skip_)/g

/** Their name in the list of what a call has lost. */
export const lostAs: Record<Wire, string> = {
  responses: 'reasoning.encrypted_content',
  messages: 'thinking.signature',
  generate: 'contents.parts.thoughtSignature',
}
