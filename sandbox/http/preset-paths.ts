// Where providers with a preset have their paths: a channel of a preset whose host is replaced by the
// sandbox is served like one with the sandbox's own addresses.

const plainPrefixes = [
  '/v1beta/openai',
  '/v1/openai',
  '/openai/v1',
  '/compatible-mode/v1',
  '/compatibility/v1',
  '/inference/v1',
  '/api/paas/v4',
  '/api/v1',
  '/api/v3',
  '/v2',
  '',
]
const plainCalls =
  /^\/(?:chat\/completions|responses(?:\/input_tokens)?|embeddings|rerank|moderations|audio\/(?:speech|transcriptions|translations)|images\/(?:generations|edits)|models)$/

const messagesPrefixes = ['/api/anthropic', '/apps/anthropic', '/anthropic', '/inference', '/api']
const messagesCalls = /^\/v1\/(?:messages(?:\/count_tokens)?|models)$/

/** The sandbox's own path for a path of a provider; any other path is itself. */
export function ownPath(path: string): string {
  for (const prefix of plainPrefixes) {
    if (path.startsWith(prefix) && plainCalls.test(path.slice(prefix.length))) {
      return `/v1${path.slice(prefix.length)}`
    }
  }
  const prefix = messagesPrefixes.find((each) => path.startsWith(`${each}/v1/`))
  const rest = path.slice(prefix?.length)
  return messagesCalls.test(rest) ? rest : path
}
