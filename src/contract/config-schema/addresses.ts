// Base addresses of protocols: whether the path that the gateway adds is in them already, as in an
// endpoint that was copied from a provider's documentation, and the URL that results.
import type { Protocol } from '../catalog.ts'
import { protocolPaths, protocols } from './names.ts'

/** '/images/generations and /images/edits' -> both */
const pathsOf = (protocol: Protocol): string[] => (protocolPaths[protocol] ?? '').split(' and ')

/** The URL of its calls. */
export const endpointOf = (protocol: Protocol, address: string): string =>
  address.replace(/\/+$/, '') + pathsOf(protocol)[0]

/** Below which lists of models are; no protocol has it in its path. */
const listPath = '/models'

/** What is wrong with it, reading on after its name, with the address to write instead. */
export function addressProblem(protocol: Protocol, address: string): string | undefined {
  const { origin, pathname } = new URL(address)
  const path = pathname.replace(/\/+$/, '')
  const write = (of: Protocol, rest: string) =>
    `write ${of === protocol ? '' : `${of}: `}${origin}${rest}`
  for (const [of, cut] of doubledIn(protocol, path)) {
    const added = path.slice(cut.length)
    if (of === protocol) return `ends in ${added}, which the gateway adds itself: ${write(of, cut)}`
    return `is an address of the protocol ${of}: ${write(of, cut)}`
  }
  if (!path.endsWith(listPath)) return undefined
  return `ends in ${listPath}, which is no part of it: ${write(protocol, path.slice(0, -listPath.length))}`
}

/** The own protocol first; of others only whole paths, because parts such as /v1 are in many. */
function doubledIn(protocol: Protocol, path: string): [Protocol, string][] {
  const own = pathsOf(protocol).flatMap((added) => cutsOf(path, added, isTelling))
  if (own.length > 0) return [[protocol, own[0]!]]
  return protocols
    .filter((other) => other !== protocol)
    .flatMap((other) =>
      pathsOf(other).flatMap((added) =>
        cutsOf(path, added, (segments, total) => segments.length === total).map(
          (cut): [Protocol, string] => [other, cut],
        ),
      ),
    )
    .toSorted(([, one], [, other]) => one.length - other.length)
}

/** Whether these first segments of a path belong to it: a version, or more than one of them. */
const isTelling = (segments: readonly string[], total: number): boolean =>
  segments.length === total || segments.length > 1 || /^v\d/.test(segments[0]!)

/** '/x/v1', '/v1/messages' -> ['/x']: the path without the first segments of the added one. */
function cutsOf(
  path: string,
  added: string,
  counts: (segments: readonly string[], total: number) => boolean,
): string[] {
  const all = added.split('/').slice(1)
  const cuts: string[] = []
  for (let n = all.length; n > 0; n--) {
    const segments = all.slice(0, n)
    if (!counts(segments, all.length)) continue
    const found = new RegExp(`/${segments.map(patternOf).join('/')}$`).exec(path)
    if (found !== null) cuts.push(path.slice(0, found.index))
  }
  return cuts
}

/** '{model}:generateContent' -> any model and any method; '…' -> anything */
const patternOf = (segment: string): string =>
  segment === '…' || segment.includes('{') ? variableOf(segment) : RegExp.escape(segment)

const variableOf = (segment: string): string => (segment.includes(':') ? '[^/]+:[^/]+' : '[^/]+')
