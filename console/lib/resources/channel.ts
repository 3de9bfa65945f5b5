// A channel as the admin API shows it, and the lines of text a form edits it in.
type Health = 'good' | 'probing' | 'avoided' | 'blocked'

export interface Channel {
  id: string
  name: string
  region: string
  keys: number
  protocols: Record<string, string>
  models: Record<string, string>
  priority: number
  weight: number
  timeouts: Record<string, string>
  max_concurrency: number
  messages: Record<string, string>
  trace: boolean
  disabled: boolean
  source: 'builtin' | 'file' | 'api'
  health: {
    state: Health
    failures_in_row: number
    retry_at: string | null
    busy: number
    keys: Health[]
    denied_models: string[]
  }
}

export interface TestResult {
  ok: boolean
  latency_ms?: number
  model?: string
  error?: string | { message?: string }
}

export const errorText = ({ error }: TestResult): string =>
  typeof error === 'string' ? error : (error?.message ?? '')

export const linesOf = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n')

/** The number of the first line that cannot be read, or the pairs. */
export function pairsOf(text: string): Record<string, string> | number {
  const pairs: Record<string, string> = {}
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) return i + 1
    pairs[name] = value
  }
  return pairs
}
