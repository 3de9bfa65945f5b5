// Cleans text that came from an upstream before anybody outside reads it: secrets, internal
// addresses and stack traces go, the sentence stays. What the caller itself sent stays readable.

export interface Cleaner {
  /** `keep` holds the caller's own words (its URLs); parts of the text found in it are left alone. */
  clean(text: string, keep?: string): string
  /** Configured secrets only, everything else as it is: for our own log lines. */
  cleanLine(text: string): string
}

/** Longest error text anybody gets to read. */
const maxLength = 2_000

const stackLines = [
  /^\s*at\s+(?:async\s+)?\S.*[(:]\S*:\d+(?::\d+)?\)?\s*$/,
  /^\s*File "[^"]+", line \d+.*$/,
  /^\s*Traceback \(most recent call last\):\s*$/,
  /^\s*(?:goroutine \d+ \[|\S+\.go:\d+).*$/,
  /^\s*Caused by:.*$/,
]

const shapes: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9+/_.=~-]{6,}/gi, '$1 [secret]'],
  [/\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?/g, '[secret]'],
  [/\b(?:sk|pk|rk|ak|ghp|gho|glpat|xox[abp]|whsec)[-_][A-Za-z0-9*_.-]{6,}/g, '[secret]'],
  // A key with its middle hidden still shows both ends.
  [/[A-Za-z0-9_-]*\*{3,}[A-Za-z0-9_-]*/g, '[secret]'],
  [/\b(?:AKIA|ASIA|AKLT|LTAI|AIza)[A-Za-z0-9_-]{8,}/g, '[secret]'],
  [
    /\b((?:api|access|secret|auth|private)?[-_ ]?(?:key|token|secret|password|passwd|signature|credential)s?)(["']?\s*[=:]\s*["']?)(?!\[secret\]|\d+\b)([^\s"',;&)}\]]{4,})/gi,
    '$1$2[secret]',
  ],
]

const url = /\b[a-z][a-z0-9+.-]{1,12}:\/\/[^\s"'<>`]+/gi
const ipv4 = /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b(?:\/[^\s"'<>,;)]*)?/g
const ipv6 =
  /(?:\b|(?<=\[))(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}\b\]?(?::\d{1,5})?|(?<![\w:])::1\b/gi
const internalHost =
  /\b(?:[a-z0-9-]+\.)+(?:internal|local|localdomain|lan|corp|intra|svc|cluster|consul)(?:\.[a-z0-9-]+)*(?::\d{1,5})?\b|\blocalhost(?::\d{1,5})?\b/gi
const path = /(?<![\w/.:])\/(?:[\w.@-]+\/){2,}[\w.@-]+(?::\d+)*/g

export function createCleaner(secrets: Iterable<string>): Cleaner {
  const needles = needlesOf(secrets)
  const cleanLine = (text: string): string => {
    let out = text
    for (const needle of needles) {
      if (out.includes(needle)) out = out.replaceAll(needle, '[secret]')
    }
    return out
  }
  return {
    cleanLine,
    clean(text, keep = '') {
      let out = cleanLine(withoutStack(text.slice(0, maxLength * 4)))
      const unlessKept = (label: string) => (match: string) =>
        keep.includes(match.replace(/[.,;:)\]}]+$/, '')) ? match : label
      out = out.replace(url, unlessKept('[url]'))
      for (const [shape, label] of shapes) out = out.replace(shape, label)
      out = out.replace(internalHost, unlessKept('[host]')).replace(ipv4, unlessKept('[address]'))
      out = out.replace(ipv6, unlessKept('[address]')).replace(path, unlessKept('[path]'))
      return out.replace(/\s+/g, ' ').trim().slice(0, maxLength)
    },
  }
}

function withoutStack(text: string): string {
  if (!/[\n\r]|\\n/.test(text)) return text
  return text
    .split(/\r?\n|\\n/)
    .filter((line) => !stackLines.some((shape) => shape.test(line)))
    .join('\n')
}

/** Every secret in the forms it may be echoed in, longest first, and its telling fragments. */
function needlesOf(secrets: Iterable<string>): string[] {
  const needles = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < 8) continue
    const base64 = Buffer.from(secret).toString('base64')
    for (const form of [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      base64,
      base64.replace(/=+$/, ''),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(secret).toString('hex'),
    ]) {
      needles.add(form)
    }
    if (secret.length >= 24) {
      needles.add(secret.slice(0, 12))
      needles.add(secret.slice(-8))
    }
  }
  return [...needles].sort((a, b) => b.length - a.length)
}
