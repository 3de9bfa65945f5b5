// Chat completions.
import {
  parsedJson,
  type SetUp,
  stopsIn,
  type ToolCall,
  type Turn,
  toolsIn,
} from '../conversation.ts'
import {
  type Answer,
  filled,
  type Json,
  list,
  nativeOf,
  record,
  type Style,
  sentTurns,
  text,
  usageFrom,
} from './style.ts'

function messageOf(turn: Turn): Json[] {
  switch (turn.role) {
    case 'user': {
      const images = turn.images.map((url) => ({ type: 'image_url', image_url: { url } }))
      const content =
        images.length === 0 ? turn.text : [{ type: 'text', text: turn.text }, ...images]
      return [{ role: 'user', content }]
    }
    case 'assistant': {
      const native = nativeOf(turn, 'chat')
      if (native !== undefined) return [record(native)]
      const tool_calls = turn.calls.map(({ id, name, arguments: given }) => ({
        ...{ id, type: 'function', function: { name, arguments: given } },
      }))
      return [
        {
          ...{ role: 'assistant', content: turn.text },
          ...(tool_calls.length > 0 && { tool_calls }),
        },
      ]
    }
    default:
      return turn.answers.map(({ id, text: content }) => ({
        ...{ role: 'tool', tool_call_id: id, content },
      }))
  }
}

function formatOf({ format, schema }: SetUp): unknown {
  if (format === 'text') return undefined
  if (format === 'json_object') return { type: format }
  const json_schema = { name: 'answer', schema: parsedJson(schema) ?? { type: 'object' } }
  return { type: format, json_schema }
}

/** What deltas add up to: a message as a whole answer has it. */
function addDelta(message: Json, delta: Json): void {
  for (const name of ['content', 'reasoning_content']) {
    if (typeof delta[name] === 'string') message[name] = text(message[name]) + delta[name]
  }
  for (const part of list(delta['tool_calls'])) {
    message['tool_calls'] ??= []
    const calls = message['tool_calls'] as Json[]
    const at = typeof part['index'] === 'number' ? part['index'] : calls.length
    calls[at] ??= { id: '', type: 'function', function: { name: '', arguments: '' } }
    const call = calls[at]
    if (part['id'] !== undefined) call['id'] = part['id']
    const [made, given] = [record(call['function']), record(part['function'])]
    made['name'] = text(made['name']) + text(given['name'])
    made['arguments'] = text(made['arguments']) + text(given['arguments'])
  }
}

function answerOf(message: Json, usage: Json): Answer {
  const calls = list(message['tool_calls']).map((call): ToolCall => {
    const { name, arguments: given } = record(call['function'])
    return { id: text(call['id']), name: text(name), arguments: text(given) }
  })
  return {
    text: text(message['content']),
    thinking: text(message['reasoning_content']),
    calls,
    native: message,
    ...usageFrom(usage, 'prompt_tokens', 'completion_tokens'),
  }
}

export const chat: Style = {
  name: 'chat',
  has: ['temperature', 'top_p', 'max_tokens', 'effort', 'stop', 'json_object'],
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  path: () => '/v1/chat/completions',
  body(model, setUp, turns) {
    const { system, max_tokens, temperature, top_p, effort, stream } = setUp
    const first = system === '' ? [] : [{ role: 'system', content: system }]
    const tools = toolsIn(setUp.tools).map((each) => ({ type: 'function', function: each }))
    return filled({
      model,
      messages: [...first, ...sentTurns(turns).flatMap(messageOf)],
      ...{ max_tokens, temperature, top_p },
      reasoning_effort: effort,
      stop: stopsIn(setUp),
      tools: tools.length === 0 ? undefined : tools,
      response_format: formatOf(setUp),
      stream,
      ...record(parsedJson(setUp.more)),
    })
  },
  read: (body) => answerOf(record(list(body['choices'])[0]?.['message']), record(body['usage'])),
  fold() {
    const message: Json = { role: 'assistant', content: '' }
    let usage: Json = {}
    let error: string | undefined
    return (event) => {
      addDelta(message, record(list(event['choices'])[0]?.['delta']))
      if (event['usage'] !== undefined && event['usage'] !== null) usage = record(event['usage'])
      if (event['error'] !== undefined) error = text(record(event['error'])['message'])
      return { ...answerOf(message, usage), ...(error !== undefined && { error }) }
    }
  },
}
