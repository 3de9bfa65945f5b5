// The caller's own words: parts of an upstream's text that occur in the request as whole tokens.
// They are shielded from the other rules and restored at the end.

/**
 * Upstreams quote one or two addresses of a request. Each check scans the whole request, so the
 * total is bounded: hundreds of checks of a short request, a few of a long one.
 */
const maxRead = 12 * 1024 * 1024
const maxQuestions = 256
/** A request with inline media is long; addresses are searched up to here. */
const maxKeepLength = 4 * 1024 * 1024
/** No address is longer. */
const maxMatch = 2_048
/** How often one match may turn out to be part of a longer token. */
const maxPlaces = 64
/** One private-use character represents each shielded part. */
const firstShield = 0xe000
const maxShields = 256

/** `path` is an address up to its query. */
type KeptKind = 'url' | 'path' | 'word'

export interface Kept {
  /** Whether the caller wrote exactly this, and not a longer token that contains it. */
  isOwn(match: string, kind: KeptKind): boolean
  /** A placeholder that no rule matches; the match itself once there are too many. */
  shield(match: string): string
  restore(text: string): string
}

type IsOwn = Kept['isOwn']

/** Results are cached: every round of redaction checks the same matches. */
export function createOwn(sent: string): IsOwn {
  const keep = sent.length > maxKeepLength ? sent.slice(0, maxKeepLength) : sent
  const known = new Map<string, boolean>()
  let readLength = 0
  return (match, kind) => {
    if (keep === '' || match === '' || match.length > maxMatch) return false
    const name = `${kind} ${match}`
    const before = known.get(name)
    if (before !== undefined) return before
    if (known.size >= maxQuestions) return false
    const found = spellingsOf(match).some((spelling) => {
      readLength += keep.length
      return readLength <= maxRead && standsIn(keep, spelling, kind)
    })
    known.set(name, found)
    return found
  }
}

export function createKept(sent: string | IsOwn): Kept {
  const shielded: string[] = []
  return {
    isOwn: typeof sent === 'string' ? createOwn(sent) : sent,
    shield(match) {
      if (shielded.length >= maxShields) return match
      shielded.push(match)
      return String.fromCharCode(firstShield + shielded.length - 1)
    },
    restore: (text) =>
      text.replace(/[\ue000-\ue0ff]/g, (mark) => shielded[mark.charCodeAt(0) - firstShield] ?? ''),
  }
}

/** Removes shield characters from the input, so that text cannot imitate a shield. */
export function withoutShields(text: string): string {
  return text.replace(/[\ue000-\ue0ff]/g, '\ufffd')
}

/** The request is JSON, in which one address has several spellings. */
function spellingsOf(match: string): string[] {
  const spellings = new Set([
    match,
    match.replaceAll('\\/', '/'),
    match.replaceAll('/', '\\/'),
    match.replaceAll('&', '\\u0026'),
    JSON.stringify(match).slice(1, -1),
  ])
  return [...spellings]
}

function standsIn(keep: string, match: string, kind: KeptKind): boolean {
  let at = keep.indexOf(match)
  for (let place = 0; at >= 0 && place < maxPlaces; place++) {
    if (isWhole(keep, at, at + match.length, kind)) return true
    at = keep.indexOf(match, at + 1)
  }
  return false
}

function isWhole(keep: string, start: number, end: number, kind: KeptKind): boolean {
  const before = keep[start - 1] ?? ' '
  if (kind !== 'word') {
    // An address inside another one, as in `?from=https://…`, does not count as the caller's own.
    if (!/[\s"'`<>()[\]{},;|\\]/.test(before)) return false
    if (kind === 'path') return keep[end] === '?'
    return /^[.,;:!?)\]}]{0,4}(?:[\s"'`<>\\|]|$)/.test(keep.slice(end, end + 8))
  }
  if (/[\w.-]/.test(before)) return false
  return !/^(?:[\w-]|\.\w)/.test(keep.slice(end, end + 2))
}
