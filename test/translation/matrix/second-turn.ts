// A conversation that goes on: the answer goes back as the caller got it, with results of its calls.
import type { AnswerEvent } from '../../../src/styles/common/answer.ts'
import type { Json, StyleName } from '../../../src/styles/common/conversation.ts'
import { plainSeal } from '../../../src/styles/common/envelope.ts'
import { parseExact } from '../../../src/styles/common/exact-json.ts'
import { envelopes, realm } from '../../../src/styles/common/test-answers.ts'
import { ToolNames } from '../../../src/styles/common/tool-names.ts'
import { styles } from '../../../src/styles/index.ts'
import {
  type Body,
  type ConversationCase,
  user,
  weather,
} from '../conversations/conversation-case.ts'

/** Reasons, calls a tool, and wants to be able to go on. */
export const thoughtfulCall: ConversationCase = {
  name: 'a call after reasoning',
  conversation: {
    tools: [weather],
    turns: [user('Weather of Paris [[sim:reasoning=4]] [[sim:tool]]')],
    maxOutputTokens: 400,
  },
  own: {
    chat: (body) => {
      body.reasoning = { effort: 'high' }
    },
    responses: (body) => {
      body.reasoning = { effort: 'high', summary: 'auto' }
      body.include = ['reasoning.encrypted_content']
    },
    messages: (body) => {
      body.thinking = { type: 'adaptive', display: 'summarized' }
      body.output_config = { effort: 'high' }
    },
    generate: (body) => {
      body.generationConfig.thinkingConfig = { includeThoughts: true, thinkingLevel: 'HIGH' }
    },
  },
}

const result = 'Sunny'

/** Adds an answer to the request that it is for, and what its calls gave. */
export const goOn: Record<StyleName, (body: Body, answer: Body) => void> = {
  chat: ({ messages }, { choices: [{ message }] }) => {
    messages.push(message)
    for (const { id } of message.tool_calls ?? []) {
      messages.push({ role: 'tool', tool_call_id: id, content: result })
    }
  },
  responses: ({ input }, { output }) => {
    input.push(...output)
    for (const { type, call_id } of output) {
      if (type === 'function_call')
        input.push({ type: 'function_call_output', call_id, output: result })
    }
  },
  messages: ({ messages }, { content }) => {
    const calls = content.filter(({ type }: Body) => type === 'tool_use')
    const results = calls.map(({ id }: Body) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: result,
    }))
    messages.push({ role: 'assistant', content }, { role: 'user', content: results })
  },
  generate: ({ contents }, { candidates: [{ content }] }) => {
    const calls = content.parts.flatMap(({ functionCall }: Body) => functionCall ?? [])
    const parts = calls.map(({ id, name }: Body) => ({
      functionResponse: { ...(id && { id }), name, response: { result } },
    }))
    contents.push(content, { role: 'user', parts })
  },
}

/** The seals that an upstream made. */
export function sealsIn(style: StyleName, answer: string): string[] {
  const events: AnswerEvent[] = []
  const context = { names: new ToolNames([], /^/), envelopes, realm }
  styles[style].readAnswer(parseExact(answer) as Json, context, (event) => events.push(event))
  return events.flatMap((event) =>
    event.type === 'seal' && event.seal.data !== plainSeal ? [event.seal.data] : [],
  )
}
