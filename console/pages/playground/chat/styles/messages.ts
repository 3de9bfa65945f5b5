// Messages: content in blocks; an answer goes back with its thinking and signatures.
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
  filledOrNone,
  inlineImage,
  type Json,
  list,
  nativeOf,
  parsedObject,
  record,
  type Style,
  sentTurns,
  text,
  usageFrom,
} from './style.ts'

/** The style requires one. */
const defaultMaxTokens = 1_024

function imageBlock(address: string): Json {
  const inline = inlineImage(address)
  const source =
    inline === undefined
      ? { type: 'url', url: address }
      : { type: 'base64', media_type: inline.mediaType, data: inline.data }
  return { type: 'image', source }
}

function messageOf(turn: Turn): Json {
  switch (turn.role) {
    case 'user': {
      const images = turn.images.map(imageBlock)
      const content =
        images.length === 0 ? turn.text : [...images, { type: 'text', text: turn.text }]
      return { role: 'user', content }
    }
    case 'assistant': {
      const calls = turn.calls.map(({ id, name, arguments: given }) => ({
        ...{ type: 'tool_use', id, name, input: parsedObject(given) },
      }))
      const said = turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
      return { role: 'assistant', content: nativeOf(turn, 'messages') ?? [...said, ...calls] }
    }
    default:
      return {
        role: 'user',
        content: turn.answers.map(({ id, text: content }) => ({
          ...{ type: 'tool_result', tool_use_id: id, content },
        })),
      }
  }
}

const formatOf = ({ format, schema }: SetUp): unknown =>
  format === 'json_schema'
    ? { type: format, schema: parsedJson(schema) ?? { type: 'object' } }
    : undefined

function answerOf(content: readonly Json[], usage: Json): Answer {
  const textsIn = (type: string) =>
    content.flatMap((block) => (block['type'] === type ? [text(block[type])] : [])).join('')
  return {
    text: textsIn('text'),
    thinking: textsIn('thinking'),
    calls: content.flatMap((block): ToolCall[] =>
      block['type'] !== 'tool_use'
        ? []
        : [
            {
              ...{ id: text(block['id']), name: text(block['name']) },
              arguments: JSON.stringify(block['input'] ?? {}),
            },
          ],
    ),
    native: content,
    ...usageFrom(usage, 'input_tokens', 'output_tokens'),
  }
}

/** Which field of a block each kind of delta adds to. */
const deltaFields: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

function foldBlocks(): (event: Json) => Answer {
  const blocks: Json[] = []
  const inputs: string[] = []
  let usage: Json = {}
  let error: string | undefined
  return (event) => {
    const at = typeof event['index'] === 'number' ? event['index'] : 0
    const delta = record(event['delta'])
    switch (event['type']) {
      case 'message_start':
        usage = record(record(event['message'])['usage'])
        break
      case 'content_block_start':
        blocks[at] = { ...record(event['content_block']) }
        break
      case 'content_block_delta': {
        const field = deltaFields[text(delta['type'])]
        const block = record(blocks[at])
        if (field !== undefined) block[field] = text(block[field]) + text(delta[field])
        else inputs[at] = (inputs[at] ?? '') + text(delta['partial_json'])
        break
      }
      case 'content_block_stop':
        if (inputs[at]) record(blocks[at])['input'] = parsedObject(inputs[at])
        break
      case 'message_delta':
        usage = { ...usage, ...record(event['usage']) }
        break
      case 'error':
        error = text(record(event['error'])['message'])
    }
    return { ...answerOf(blocks, usage), ...(error !== undefined && { error }) }
  }
}

export const messages: Style = {
  name: 'messages',
  has: ['temperature', 'top_p', 'max_tokens', 'effort', 'stop'],
  efforts: ['low', 'medium', 'high', 'max'],
  path: () => '/v1/messages',
  body(model, setUp, turns) {
    const { system, max_tokens = defaultMaxTokens, temperature, top_p, effort, stream } = setUp
    const tools = toolsIn(setUp.tools).map(({ parameters, ...rest }) => ({
      ...{ ...rest, input_schema: parameters },
    }))
    return filled({
      model,
      system: system === '' ? undefined : system,
      messages: sentTurns(turns).map(messageOf),
      ...{ max_tokens, temperature, top_p },
      stop_sequences: stopsIn(setUp),
      output_config: filledOrNone({ effort, format: formatOf(setUp) }),
      tools: tools.length === 0 ? undefined : tools,
      stream,
      ...record(parsedJson(setUp.more)),
    })
  },
  read: (body) => answerOf(list(body['content']), record(body['usage'])),
  fold: foldBlocks,
}
