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
const messagesPrefixes = ['/api/anthropic', '/apps/anthropic', '/anthropic', '/inference', '/api']

/** Where the sandbox may have the path of a provider; the first that it has counts. */
export const ownPaths = (path: string): string[] => [
  path,
  ...plainPrefixes
    .filter((prefix) => path.startsWith(`${prefix}/`))
    .map((prefix) => `/v1${path.slice(prefix.length)}`),
  ...messagesPrefixes
    .filter((prefix) => path.startsWith(`${prefix}/v1/`))
    .map((prefix) => path.slice(prefix.length)),
]
