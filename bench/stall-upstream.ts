// A fake upstream that takes bodies of any size and answers each style with the least it must.
// Refuses to know what was asked. Prints its port.

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const answers: Readonly<Record<string, object>> = {
  '/v1/chat/completions': {
    id: 'bench',
    object: 'chat.completion',
    model: 'bench',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage,
  },
  '/v1/embeddings': {
    object: 'list',
    model: 'bench',
    data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
}

const server = Bun.serve({
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    if (request.body !== null) for await (const _ of request.body);
    const answer = answers[new URL(request.url).pathname]
    return answer === undefined
      ? Response.json({ error: { message: 'not here', code: 'InvalidParameter' } }, { status: 400 })
      : Response.json(answer)
  },
})
console.log(server.port)
