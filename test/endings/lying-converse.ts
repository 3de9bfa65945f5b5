// Answers of Converse that end as they are told to, with frames of AWS for streams.
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'
import type { Ending, ToldUsage } from './lying-upstream.ts'

type Json = Record<string, unknown>

const codec = new EventStreamCodec(toUtf8, fromUtf8)
const text = (value: string) => ({ type: 'string', value }) as const

const frame = (name: string, payload: string, kind = 'event'): Uint8Array =>
  codec.encode({
    headers: {
      ':message-type': text(kind),
      [kind === 'event' ? ':event-type' : ':exception-type']: text(name),
      ':content-type': text('application/json'),
    },
    body: fromUtf8(payload),
  })
const event = (name: string, payload: Json) => frame(name, JSON.stringify(payload))

const usageOf = ({ input, output, cached }: ToldUsage): Json => ({
  inputTokens: input - (cached ?? 0),
  outputTokens: output,
  totalTokens: input + output,
  ...(cached !== undefined && { cacheReadInputTokens: cached }),
})

const finishOf = ({ finish, tool }: Ending): string | null =>
  finish === undefined ? (tool === undefined ? 'end_turn' : 'tool_use') : finish

const toolHead = ({ tool }: Ending): Json => ({ toolUseId: 'tooluse_1', name: tool!.name })

function parsed(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

export function converseAnswer(ending: Ending): Json {
  const { texts, thought, tool, extra, usage } = ending
  const content = [
    ...(thought ? [{ reasoningContent: { reasoningText: { text: thought } } }] : []),
    { text: texts.join('') },
    ...(extra === 'block' ? [{ oddBlock: { data: 'x' } }] : []),
    ...(tool ? [{ toolUse: { ...toolHead(ending), input: parsed(tool.args) } }] : []),
  ]
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: finishOf(ending),
    ...(usage && { usage: usageOf(usage) }),
  }
}

/** `garbage` is no event of the model; an error is a frame, too. */
export function converseFrames(ending: Ending): Uint8Array[] {
  const { texts, thought, tool, extra, usage } = ending
  const delta = (index: number, fields: Json) =>
    event('contentBlockDelta', { contentBlockIndex: index, delta: fields })
  const stop = (index: number) => event('contentBlockStop', { contentBlockIndex: index })
  const start = (index: number, fields: Json) =>
    event('contentBlockStart', { contentBlockIndex: index, start: fields })
  return [
    event('messageStart', { role: 'assistant' }),
    ...(thought ? [delta(0, { reasoningContent: { text: thought } }), stop(0)] : []),
    ...texts.map((each) => delta(1, { text: each })),
    stop(1),
    ...(extra === 'block' ? [delta(2, { oddBlock: { data: 'x' } }), stop(2)] : []),
    ...(tool
      ? [
          start(3, { toolUse: toolHead(ending) }),
          delta(3, { toolUse: { input: tool.args } }),
          stop(3),
        ]
      : []),
    event('messageStop', { stopReason: finishOf(ending) }),
    ...(extra === 'garbage' ? [frame('contentBlockDelta', '{"broken')] : []),
    event('metadata', usage ? { usage: usageOf(usage) } : {}),
  ]
}

export const converseError = (): Uint8Array =>
  frame('internalServerException', '{"message":"it broke"}', 'exception')
