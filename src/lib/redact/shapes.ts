// Matches credentials and account ids by shape, whatever their origin. Knows shapes only:
// configured secrets are found elsewhere, and the caller's own words come in as `isOwn`.

import { withoutTrailing } from './view.ts'

type IsOwn = (match: string) => boolean

/** An ordinary word: letters of one case, optionally capitalised. */
const ordinary = /^(?:[A-Za-z]?[a-z]{0,18}|[A-Z]{1,19})$/
const isTelling = (text: string) => /\d/.test(text) || /[a-z][A-Z]/.test(text) || text.length >= 20

/** What follows `password:` when the sentence is about a password but contains none. */
const remarks =
  /^(?:is|are|was|must|should|not|no|the|a|an|your|this|that|has|cannot|can|could|may|null|none|nil|undefined|empty|true|false|required|missing|invalid|incorrect|wrong|expired|mismatch|unknown|field|header|string|value|too|please|provide|use|check|does|did|do|in|for|from|and|or|bearer|basic)$/i

const secretWords =
  'api|access|secret|auth|private|client|session|security|refresh|id|app|account|subscription|csrf|xsrf|bearer|user|master|signing|encryption|shared|service|upstream|x'
const pair = new RegExp(
  `(?<![A-Za-z])((?:(?:${secretWords})[-_ ]?){0,3})(key|token|secret|password|passwd|pwd|passphrase|signature|sig|credential|cookie|authorization|session|sid)(s?(?:[-_]?id)?)` +
    '(\\\\?["\']?\\s{0,2}(?:=>|[=:]|%3D)\\s{0,2}\\\\?["\']?)((?:bearer |basic )?)((?<=["\'])[^"\'\\\\]{3,200}(?=\\\\?["\'])|[^\\s"\'\\\\,;&)}[\\]<>]*(?:\\[(?!secret\\])[^\\s"\'\\\\,;&)}[\\]<>]*)*)',
  'gi',
)

const scheme = /\b(bearer|basic)((?:\s|%20|\+){1,3})([A-Za-z0-9+/_.=~%-]{6,})/gi
const jwt = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}(?:\.[A-Za-z0-9_-]*)?/g
const ownKind = /(?<![A-Za-z0-9])sk[-_][A-Za-z0-9*_.-]{5,}[A-Za-z0-9*_-]/gi
const prefixed =
  /(?<![A-Za-z0-9])(?:pk|rk|ak|tk|ghp|gho|ghu|ghs|github_pat|glpat|xox[abeprs]|whsec|hf|gsk|key|npm|pat|apikey)[-_][A-Za-z0-9*_.-]{5,}[A-Za-z0-9*_-]/gi
const vendors = /(?<![A-Za-z0-9])(?:AKIA|ASIA|AKLT|AKTP|LTAI|AIza|AKID|ya29\.)[A-Za-z0-9_-]{8,}/g
const starred = /(?<![\w*-])([\w-]{0,64})(\*{3,})([\w-]{0,64})/g
const login = /(?<![\w.%+-])[\w.%+-]{1,64}:[^\s:@/"'<>[\]]{3,128}@(?=[A-Za-z0-9[])/g
const longRun = /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{32,}/g
// `req_…` and `task_…` are ids of the gateway itself.
const hexRun = /(?<![A-Za-z0-9]|[a-z]_)[0-9a-f]{32,}(?![A-Za-z0-9])/gi

const ids: readonly RegExp[] = [
  /\b(accounts?\b[^\d.;]{0,40})\d{10,}/gi,
  /\b((?:organi[sz]ation|org|tenant|project|workspace|customer|subscription|owner|user|uid)(?:[ _-]?(?:id|number|no|uid))?\.?\\?["']?(?: is)?\s{0,2}[:=#]?\s{0,2}\\?["'(]?)\d{10,}/gi,
  /(?<![A-Za-z0-9])()(?:org|proj|acct|tenant|cus|user)[-_](?=[A-Za-z0-9]*\d)[A-Za-z0-9]{8,}/g,
  /(?<![A-Za-z0-9])()ep-(?:[a-z]-)?\d{8,}(?:-[a-z0-9]+)*/gi,
  /(?<![A-Za-z0-9])()arn:[\w:/.*-]{8,}/g,
]

export function withoutShapes(text: string, isOwn: IsOwn): string {
  let out = withoutPrivateKeys(text)
  out = out.replace(scheme, (match, name: string, gap: string, value: string) =>
    isTelling(value) || value.includes('=') ? `${name}${gap}[secret]` : match,
  )
  out = out.replace(jwt, '[secret]').replace(ownKind, '[secret]').replace(vendors, '[secret]')
  out = out.replace(prefixed, (match) =>
    isTelling(match) || match.includes('**') ? '[secret]' : match,
  )
  out = out.replace(starred, (match, head: string, stars: string, tail: string) =>
    isMasked(head, stars, tail) ? '[secret]' : match,
  )
  out = out.replace(login, '[secret]@').replace(pair, cleanPair)
  for (const id of ids) out = out.replace(id, (_, before: string) => `${before}[id]`)
  out = out.replace(longRun, (match) => (isRandom(match) && !isOwn(match) ? '[secret]' : match))
  return out.replace(hexRun, (match) => (isOwn(match) ? match : '[secret]'))
}

/** Whether it contains something that must not be logged. */
export function hasShape(text: string): boolean {
  return withoutShapes(text, () => true) !== text
}

function cleanPair(match: string, ...parts: string[]): string {
  const [prefix = '', name = '', suffix = '', between = '', kind = '', value = ''] = parts
  if (value.length < 3 || value.startsWith('[secret]')) return match
  if (/^\d{1,7}[.:]?$/.test(value)) return match
  const word = withoutTrailing(value, '.!?:')
  if (remarks.test(/^\S*/.exec(word)![0])) return match
  // `key: temperature` names a field, `api_key: temperature` and `key=temperature` do not.
  const isBare = prefix === '' || suffix === 's'
  const isSpoken = /:\s+\\?["']?$/.test(between) || /:\\?["']$/.test(between)
  const isName =
    word.split(' ').every((one) => ordinary.test(one)) || /^[a-z_]+(?:[.[][\w.[\]]*)?$/.test(word)
  const isCommon = /^(?:key|token|signature|sig|session|cookie|authorization|credential)$/i.test(
    name,
  )
  if (isBare && isCommon && isSpoken && kind === '' && isName) return match
  return `${prefix}${name}${suffix}${between}${kind}[secret]${/[.!?]$/.exec(value)?.[0] ?? ''}`
}

function isMasked(head: string, stars: string, tail: string): boolean {
  if (head === '' && tail === '') return false
  return stars.length > 3 || isTelling(head + tail) || /^[A-Za-z]{2,4}-/.test(head)
}

function isRandom(run: string): boolean {
  if (run.length < 40) return false
  const max = run.split(/[^A-Za-z0-9]+/).reduce((a, b) => (b.length > a.length ? b : a), '')
  return max.length >= 16 && [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(max))
}

/** Hand-written: a regular expression would search for the missing end once for every beginning. */
function withoutPrivateKeys(text: string): string {
  let out = ''
  let from = 0
  for (const { index } of text.matchAll(/-----BEGIN [A-Z ]{0,40}PRIVATE KEY/g)) {
    if (index < from) continue
    out += `${text.slice(from, index)}[secret]`
    const end = text.indexOf('-----END ', index)
    const close = end < 0 ? -1 : text.indexOf('-----', end + 9)
    if (close < 0) return out
    from = close + 5
  }
  return out + text.slice(from)
}
