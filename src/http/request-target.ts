// Which request targets are accepted. `Request.url` cannot be used: in it `\` has become `/` and dot
// segments are resolved, so its path may differ from the one that a proxy has checked. Bun's own router
// matches the target as it was sent, and returns its segments decoded, one by one.
import { type Refusal, refuse } from '../contract/errors.ts'

/** Deeper than any route. */
const maxSegments = 12

/** One pattern for each number of segments, with and without a slash at the end. */
export const targetPatterns: readonly string[] = Array.from({ length: maxSegments }, (_, deep) => {
  const pattern = Array.from({ length: deep + 1 }, (_, at) => `/:p${at}`).join('')
  return [pattern, `${pattern}/`]
}).flat()

/** Frequent paths that the router gets as they are, so that nothing has to be checked. */
export const plainTargets: readonly string[] = [
  '/',
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
]

/** Why segments of a target are refused. */
export function wrongSegment(segments: Readonly<Record<string, string>>): Refusal | undefined {
  for (const name in segments) {
    const segment = segments[name]!
    if (segment === '.' || segment === '..')
      return refuse('invalid_request', 'the path has a dot segment')
    if (segment.includes('\\')) return refuse('invalid_request', 'the path has a backslash')
    if (segment.includes('/')) return refuse('invalid_request', 'the path has an encoded slash')
  }
  return undefined
}

/** Why the header is refused: it is sent twice, or is not a host name. */
export function wrongHost(host: string | null, url: string): Refusal | undefined {
  if (host?.includes(',') === true)
    return refuse('invalid_request', 'there is more than one Host header')
  // Only an invalid host is missing in the URL.
  if (!url.startsWith('/') || host === null || host === '') return undefined
  return refuse('invalid_request', 'the Host header is not the name of a host')
}

/** For a target that no pattern matches: it has empty segments, or too many. */
export function unfitTarget(url: string): Refusal {
  const path = url.startsWith('/') ? url : url.slice(url.indexOf('/', url.indexOf('://') + 3))
  if (!path.includes('//')) return refuse('invalid_request', 'the path is not a plain one')
  if (path.startsWith('//')) return refuse('invalid_request', 'the path begins with two slashes')
  const [shown] = path.split('?')
  return refuse('not_found', `there is nothing at ${shown}; the path has a doubled slash`)
}
