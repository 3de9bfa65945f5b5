// gateway call: one call to the data plane with a caller's token, to see that it works.
import { isObject } from '../../lib/json/parse.ts'
import { answerOf, reach, refusalSentence, requestId } from '../terminal/admin-client.ts'
import type { Command, Context, Outcome } from '../terminal/command.ts'
import { readEvents } from '../terminal/read-events.ts'
import { cell, printable, type Row, rowOf, rowsOf } from '../terminal/show.ts'
import { exitCodes, misuse, Stop } from '../terminal/stop.ts'

const callTimeoutMs = 600_000

function noteOf(id: string | undefined, usage: Row): string {
  const tokens =
    usage['prompt_tokens'] === undefined && usage['completion_tokens'] === undefined
      ? 'usage not told'
      : `${cell(usage['prompt_tokens'])} tokens in, ${cell(usage['completion_tokens'])} out`
  return `request ${cell(id)}, ${tokens}`
}

const textOf = (value: unknown): string => (typeof value === 'string' ? printable(value) : '')

async function callChat({ line, url, env, json, write }: Context): Promise<Outcome> {
  const token = line.text('token') ?? env['GATEWAY_TOKEN']
  if (!token) throw misuse('call chat needs --token or GATEWAY_TOKEN')
  const stream = line.on('stream')
  if (stream && json) throw misuse('--json prints one document, so it does not go with --stream')
  const response = await reach(url, '/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: line.text('model'),
      messages: [{ role: 'user', content: line.arg(0) }],
      max_tokens: line.count('max-tokens'),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
    signal: AbortSignal.timeout(callTimeoutMs),
  })
  const isStream = response.headers.get('content-type')?.includes('text/event-stream')
  if (stream && response.ok && isStream) {
    const usage = await printStream(response, write)
    return { answer: null, text: '', note: noteOf(requestId(response), usage) }
  }
  const answer = await answerOf(response, url)
  const row = rowOf(answer)
  const message = rowOf(rowsOf(row['choices'])[0]?.['message'])
  const note = noteOf(requestId(response), rowOf(row['usage']))
  return { answer, text: textOf(message['content']), note }
}

/** Writes the words as they come; hands back the usage. */
async function printStream(response: Response, write: (text: string) => void): Promise<Row> {
  let usage: Row = {}
  let ended = false
  let wrote = false
  let problem: string | undefined
  try {
    for await (const data of readEvents(response.body!)) {
      if (data === '[DONE]') ended = true
      const event = ended ? undefined : parseEvent(data)
      if (event === undefined) continue
      if (isObject(event['error'])) problem = refusalSentence(200, event, requestId(response))
      if (isObject(event['usage'])) usage = event['usage']
      const words = textOf(rowOf(rowsOf(event['choices'])[0]?.['delta'])['content'])
      if (words !== '') write(words)
      wrote ||= words !== ''
    }
  } catch {
    // A reset or a time-out; like a missing end mark it leaves the answer incomplete.
    ended = false
  }
  if (wrote) write('\n')
  if (problem === undefined && !ended) {
    problem = `the stream broke off (request id ${cell(requestId(response))})`
  }
  if (problem !== undefined) throw new Stop(exitCodes.refused, problem)
  return usage
}

function parseEvent(data: string): Row | undefined {
  try {
    return rowOf(JSON.parse(data))
  } catch {
    return undefined
  }
}

export const callCommands: readonly Command[] = [
  {
    path: ['call', 'chat'],
    args: ['PROMPT'],
    summary: 'ask a text model and print its answer',
    flags: {
      model: { value: 'MODEL', required: true, summary: 'which model' },
      stream: { summary: 'print the words as they come' },
      token: { value: 'TOKEN', summary: "a caller's token (or GATEWAY_TOKEN)" },
      'max-tokens': { value: 'N', summary: 'bound of the answer' },
    },
    run: callChat,
  },
]
