// Locations: URLs, hosts, IP addresses, file paths. Each becomes a label unless the caller's
// request contains it. Knows the configured upstream hosts; secrets are found elsewhere.
import { isIPv6 } from 'node:net'
import type { Kept } from './keep.ts'
import { hasShape } from './shapes.ts'
import { withoutTrailing } from './view.ts'

/** Maximum labels of a host name. */
const maxLabels = 8
const maxScheme = 20

const urlMiddle = /:(?:\\?\/){2}|%3A%2F%2F/gi
const urlEnd = /[\s"'`<>|]|[^\x21-\x7e\ue000-\ue0ff]/

const word = /[A-Za-z0-9_.-]+(?::\d{1,5}(?!\d))?/g
const internal =
  /^(?:internal|local|localdomain|lan|corp|intra|intranet|svc|cluster|consul|localhost)$/
/** Label parts that clouds use for names of internal networks. */
const internalPart =
  /(?:^|-)(?:internal|intranet|intra|inner|private|privatelink|vpc|vpce|svc)\d*(?:-|$)/
/** Fewer labels may be a setting: `internal.timeout`. */
const publicEnding =
  /^(?:com|net|org|cn|io|dev|app|cloud|co|ai|eu|us|uk|de|jp|sg|hk|example|test|invalid)$/
const unreachable =
  /\b((?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|EHOSTUNREACH|(?:dial tcp: )?lookup|dial tcp|resolve host):? )([A-Za-z0-9_.-]{1,253}(?::\d{1,5})?)/g
const ipv4 =
  /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)(?::\d{1,5})?(?:\/[^\s"'<>,;)\ue000-\ue0ff]*)?/g
const ipv6 = /(?<![\w:.])\[?[0-9A-Fa-f:.]{2,60}(?:%\w{1,16})?(?:\](?::\d{1,5})?)?(?![\w:])/g
const mac = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i

const unixPath = /(?<![\w/.~\\<-])(?:~|\.{1,2})?(?:\\?\/[\w.@+-]+)+(?:\\?\/)?(?::\d+)*/g
const roots =
  /^(?:etc|tmp|var|usr|opt|home|root|srv|mnt|data|app|apps|proc|dev|run|bin|sbin|lib|lib64|sys|boot|media|nix|rustc|go|code|build|src|workspace|private|Users|Library|Applications|Volumes)$/
const windowsPath =
  /(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,2}|\/)(?:[^\s"'<>|*?:,;()\\]+(?: [^\s"'<>|*?:,;()\\]+){0,3}\\{1,2})*[^\s"'<>|*?:,;()\\]+(?::\d+)*/g
const sharePath = /(?<![\w\\])\\{2,4}[\w.-]{3,}(?:\\{1,2}[\w.$-]+)+/g
const sourcePlace =
  /(?<![\w/.\\@-])[\w@./\\-]{1,200}\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|cs|cpp|cc|c|h|rb|php|scala|swift):\d+(?::\d+)?/g

/** `api.vendor.example:8443` -> `api.vendor.example` */
export function hostsOf(hosts: Iterable<string>): ReadonlySet<string> {
  const names = [...hosts].map((host) => host.toLowerCase().replace(/:\d+$/, ''))
  return new Set(names.filter((name) => name !== ''))
}

/** Hand-written, from the `://` outwards: a pattern would try a scheme at every letter. */
export function withoutUrls(text: string, kept: Kept): string {
  let out = ''
  let from = 0
  for (const { index, 0: middle } of text.matchAll(urlMiddle)) {
    if (index < from) continue
    let start = index
    while (start > from && index - start < maxScheme && /[\w+.-]/.test(text[start - 1]!)) start--
    if (start === index) continue
    const end = endOfUrl(text, index + middle.length)
    if (end === index + middle.length) continue
    out += text.slice(from, start) + urlLabel(text.slice(start, end), kept)
    from = end
  }
  return out + text.slice(from)
}

function endOfUrl(text: string, from: number): number {
  let end = from
  let open = 0
  while (end < text.length && !urlEnd.test(text[end]!)) {
    // A backslash is part of `\/` and of nothing else.
    if (text[end] === '\\' && text[end + 1] !== '/') break
    if (text[end] === '[') open++
    if (text[end] === ']') open--
    end++
  }
  while (end > from && /[.,;:!?)\]}]/.test(text[end - 1]!)) {
    if (text[end - 1] === ']' && open++ >= 0) break
    end--
  }
  return end
}

/** The caller's own URL stays; a signature in its query does not, as this goes into logs. */
function urlLabel(url: string, kept: Kept): string {
  const at = url.indexOf('?')
  const base = at < 0 ? url : url.slice(0, at)
  if (/@/.test(base) || hasShape(base)) return '[url]'
  if (url === `${base}?[secret]`) return kept.isOwn(base, 'path') ? kept.shield(url) : '[url]'
  if (!kept.isOwn(url, 'url')) return '[url]'
  return kept.shield(at >= 0 && hasShape(url.slice(at)) ? `${base}?[secret]` : url)
}

export function withoutHosts(text: string, hosts: ReadonlySet<string>, kept: Kept): string {
  const label = (match: string, name: string) => {
    if (!kept.isOwn(match, 'word') && !kept.isOwn(name, 'word')) return '[host]'
    return kept.shield(match)
  }
  const out = text.replace(word, (match) => {
    const name = withoutTrailing(/^[^:]*/.exec(match)![0], '.-')
    const hasPort = match.includes(':')
    if (!isPrivateHost(name.toLowerCase(), hasPort, hosts)) return match
    const rest = hasPort ? '' : match.slice(name.length)
    return label(match.slice(0, match.length - rest.length), name) + rest
  })
  return out.replace(unreachable, (match, before: string, host: string) => {
    const name = withoutTrailing(host, '.-')
    if (!/[.:]|\d|-/.test(name) || /^\d+(?:\.\d+){3}/.test(name)) return match
    return before + label(name, name) + host.slice(name.length)
  })
}

function isPrivateHost(name: string, hasPort: boolean, hosts: ReadonlySet<string>): boolean {
  if (name === 'localhost' || /^ip-\d{1,3}(?:-\d{1,3}){3}$/.test(name)) return true
  const labels = name.split('.').slice(-maxLabels)
  if (labels.length === 1) {
    // A container named `sandbox` must not remove that word from every sentence.
    return hosts.has(name) && (hasPort || /[\d-]/.test(name))
  }
  if (labels.some((part) => part === '')) return false
  if (internal.test(labels.at(-1)!)) return true
  if (labels.length >= 3 && labels.slice(1).some((part) => internal.test(part))) return true
  if (publicEnding.test(labels.at(-1)!) && labels.some((part) => internalPart.test(part))) {
    return true
  }
  return labels.some((_, i) => i < labels.length - 1 && hosts.has(labels.slice(i).join('.')))
}

export function withoutAddresses(text: string, kept: Kept): string {
  const own = (match: string) => {
    const bare = withoutTrailing(match, '.,;:')
    return kept.isOwn(bare, 'word') ? kept.shield(match) : undefined
  }
  const out = text.replace(ipv4, (match) => own(match) ?? '[address]')
  return out.replace(ipv6, (match) => {
    const trailing = /(?:\.+|(?<!:):)$/.exec(match)?.[0] ?? ''
    const address = match.slice(0, match.length - trailing.length)
    const bare = address.replace(/^\[/, '').replace(/(?:%\w+)?(?:\](?::\d+)?)?$/, '')
    if (!(/\d/.test(bare) && isIPv6(bare)) && !mac.test(bare)) return match
    return (own(address) ?? '[address]') + trailing
  })
}

export function withoutPaths(text: string, kept: Kept): string {
  const label = (match: string) => (kept.isOwn(match, 'word') ? kept.shield(match) : '[path]')
  let out = text.replace(windowsPath, label).replace(sharePath, label)
  out = out.replace(unixPath, (match) => {
    const path = withoutTrailing(match, '.')
    return isFilePath(path) ? label(path) + match.slice(path.length) : match
  })
  return out.replace(sourcePlace, label)
}

/** `/v1/chat/completions` is a route the caller may know. */
function isFilePath(path: string): boolean {
  const segments = path
    .replaceAll('\\', '')
    .replace(/^[~.]+/, '')
    .split('/')
    .filter(Boolean)
  const first = segments[0] ?? ''
  if (/^v\d/.test(first)) return false
  return (
    segments.length >= 3 || (segments.length === 2 && (roots.test(first) || /^[~.]/.test(path)))
  )
}
