// Responses: a list of items in, a list of items out.
import { parsedJson, type SetUp, type ToolCall, type Turn, toolsIn } from '../conversation.ts'
import {
  type Answer,
  filled,
  filledOrNone,
  type Json,
  list,
  nativeOf,
  record,
  type Style,
  sentTurns,
  text,
  usageFrom,
} from './style.ts'

function itemsOf(turn: Turn): unknown[] {
  switch (turn.role) {
    case 'user': {
      const images = turn.images.map((image_url) => ({ type: 'input_image', image_url }))
      const content =
        images.length === 0 ? turn.text : [{ type: 'input_text', text: turn.text }, ...images]
      return [{ role: 'user', content }]
    }
    case 'assistant': {
      const native = nativeOf(turn, 'responses')
      if (Array.isArray(native)) return native
      return [
        ...(turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }]),
        ...turn.calls.map(({ id, name, arguments: given }) => ({
          ...{ type: 'function_call', call_id: id, name, arguments: given },
        })),
      ]
    }
    default:
      return turn.answers.map(({ id, text: output }) => ({
        ...{ type: 'function_call_output', call_id: id, output },
      }))
  }
}

function formatOf({ format, schema }: SetUp): unknown {
  if (format === 'text') return undefined
  if (format === 'json_object') return { format: { type: format } }
  const shape = parsedJson(schema) ?? { type: 'object' }
  return { format: { type: format, name: 'answer', schema: shape } }
}

function answerOf(output: readonly Json[], usage: Json): Answer {
  const of = (type: string) => output.filter((item) => item['type'] === type)
  const textsIn = (items: readonly Json[], field: string) =>
    items.flatMap((item) => list(item[field]).map((part) => text(part['text']))).join('')
  return {
    text: textsIn(of('message'), 'content'),
    thinking: textsIn(of('reasoning'), 'summary'),
    calls: of('function_call').map(
      (item): ToolCall => ({
        ...{ id: text(item['call_id']), name: text(item['name']) },
        arguments: text(item['arguments']),
      }),
    ),
    native: output,
    ...usageFrom(usage, 'input_tokens', 'output_tokens'),
  }
}

function foldItems(): (event: Json) => Answer {
  let said = ''
  let thought = ''
  const done: Json[] = []
  let whole: Answer | undefined
  let error: string | undefined
  return (event) => {
    const type = text(event['type'])
    if (type === 'response.output_text.delta') said += text(event['delta'])
    else if (type === 'response.reasoning_summary_text.delta') thought += text(event['delta'])
    else if (type === 'response.output_item.done') done.push(record(event['item']))
    else if (/^response\.(completed|incomplete|failed)$/.test(type)) {
      const response = record(event['response'])
      whole = answerOf(list(response['output']), record(response['usage']))
      const failure = record(response['error'])['message']
      if (failure !== undefined) error = text(failure)
    } else if (type === 'error') {
      error = text(event['message'] ?? record(event['error'])['message'])
    }
    const { native: _, ...soFar } = { ...answerOf(done, {}), text: said, thinking: thought }
    return { ...(whole ?? soFar), ...(error !== undefined && { error }) }
  }
}

export const responses: Style = {
  name: 'responses',
  has: ['temperature', 'top_p', 'max_tokens', 'effort', 'json_object'],
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  path: () => '/v1/responses',
  body(model, setUp, turns) {
    const { system, max_tokens, temperature, top_p, effort, stream } = setUp
    const tools = toolsIn(setUp.tools).map((each) => ({ type: 'function', ...each }))
    return filled({
      model,
      instructions: system === '' ? undefined : system,
      input: sentTurns(turns).flatMap(itemsOf),
      max_output_tokens: max_tokens,
      ...{ temperature, top_p },
      reasoning: filledOrNone({ effort }),
      tools: tools.length === 0 ? undefined : tools,
      text: formatOf(setUp),
      stream,
      ...record(parsedJson(setUp.more)),
    })
  },
  read: (body) => answerOf(list(body['output']), record(body['usage'])),
  fold: foldItems,
}
