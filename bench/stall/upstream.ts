// A fake upstream that takes bodies of any size and answers each style with a minimal reply, or with an
// error that is expensive to clean. Prints its port.

import { setPriority } from 'node:os'
import { answerUnder, type LargeAnswer } from './answers.ts'

// Stands for another machine: it must not take a core from what is measured. That of the other caller,
// whose calls are timed, has nothing to do besides.
if (process.argv[2] !== 'usual-priority') setPriority(19)

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
/** As long as an error is read: host names, addresses and texts that look like keys. */
const errorText = Array.from(
  { length: 2_000 },
  (_, i) => `h${i}.svc.internal:80 sk-${i}abcdefghijklmnopqrstuvwx https://m${i}.example/p?k=${i}`,
).join(' ')

/** As large as images are. */
const image = { created: 1, data: [{ b64_json: 'iVBORw0K'.repeat(512 * 1024) }] }

const answers: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    id: 'bench',
    object: 'chat.completion',
    model: 'bench',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage,
  },
  '/v1/responses': {
    id: 'resp_bench',
    object: 'response',
    status: 'completed',
    model: 'bench',
    output: [],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  '/v1/messages': {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [{ type: 'text', text: 'hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  '/v1/images/edits': image,
  '/v1/rerank': {
    results: Array.from({ length: 100 }, (_, index) => ({ index, relevance_score: 0.5 })),
  },
  '/v1/moderations': { results: [{ flagged: false, categories: {}, category_scores: {} }] },
  '/v1/embeddings': {
    object: 'list',
    model: 'bench',
    data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
}

const generated = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}

/** Made once: making one takes longer than reading it. */
const made = new Map<LargeAnswer, Buffer>()

function largeAnswer(answer: LargeAnswer): Response {
  const body = made.get(answer) ?? Buffer.from(answer.body())
  made.set(answer, body)
  const { status = 200, type = 'application/json' } = answer
  return new Response(body, { status, headers: { 'content-type': type } })
}

const server = Bun.serve({
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    if (request.body !== null) for await (const _ of request.body);
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/failing/')) {
      return Response.json({ error: { message: errorText } }, { status: 400 })
    }
    const large = answerUnder(pathname)
    if (large !== undefined) return largeAnswer(large)
    const answer = pathname.endsWith(':generateContent') ? generated : answers[pathname]
    return answer === undefined
      ? Response.json({ error: { message: 'not here', code: 'InvalidParameter' } }, { status: 400 })
      : Response.json(answer)
  },
})
console.log(server.port)
