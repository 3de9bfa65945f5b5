// What the sandbox is told in the text of a request: read out of it, and written into it. Pure.
export interface Directives {
  /** The answer begins that much later; a task takes that long. */
  delaySeconds?: number | undefined
  /** A pause before every event. */
  chunkMs?: number | undefined
  tokens?: number | undefined
  /** As it stands in the text: `status=429`. */
  failure?: string | undefined
}

export const failures = [
  'fail',
  'fail=content_policy',
  'status=429',
  'status=500',
  'hang',
  'leak',
] as const
/** Of answers in words only: they have events, and a usage. */
export const textFailures = ['cut=5', 'error-after=3', 'no-usage'] as const

const failureKinds = new Set(['fail', 'status', 'hang', 'leak', 'cut', 'error-after', 'no-usage'])
const pattern = /\s*\[\[sim:([a-z-]+)(?:=([\w.-]+))?\]\]/g

const isEditable = (kind: string): boolean =>
  failureKinds.has(kind) || kind === 'delay' || kind === 'chunk' || kind === 'tokens'

/** The last of a kind wins, as in the sandbox. */
export function directivesIn(text: string): Directives {
  const found: Directives = {}
  for (const [, kind = '', value] of text.matchAll(pattern)) {
    if (kind === 'delay') found.delaySeconds = (msIn(value) ?? 0) / 1000 || undefined
    else if (kind === 'chunk') found.chunkMs = msIn(value)
    else if (kind === 'tokens') found.tokens = /^\d+$/.test(value ?? '') ? Number(value) : undefined
    else if (failureKinds.has(kind)) found.failure = value === undefined ? kind : `${kind}=${value}`
  }
  return found
}

function msIn(value: string | undefined): number | undefined {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(value ?? '') ?? []
  return count === undefined ? undefined : Number(count) * (unit === 's' ? 1000 : 1)
}

/** The text with these and no others of their kinds; what else it tells the sandbox stays. */
export function withDirectives(text: string, wanted: Directives): string {
  const plain = text.replace(pattern, (whole, kind: string) => (isEditable(kind) ? '' : whole))
  const { delaySeconds, chunkMs, tokens, failure } = wanted
  const told = [
    ...(delaySeconds ? [`delay=${Math.round(delaySeconds * 1000)}ms`] : []),
    ...(chunkMs ? [`chunk=${Math.round(chunkMs)}ms`] : []),
    ...(tokens === undefined ? [] : [`tokens=${Math.round(tokens)}`]),
    ...(failure === undefined ? [] : [failure]),
  ]
  return [plain, ...told.map((each) => `[[sim:${each}]]`)].filter((each) => each !== '').join(' ')
}
