// How long an upstream wants a caller to wait: in a header, in the details of its error, or in its text.
import type { HttpAnswer } from '../../contract/http.ts'
import { isObject } from '../../lib/json/parse.ts'

/** Only these statuses say that the same request may succeed later. */
const later: readonly number[] = [429, 503, 529]
const maxSeconds = 600
/** `1m30s`, `20s`, `6ms` */
const written = /(?:try again|retry) (?:in|after) (?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?) ?(ms|s))?/i

/** Whole seconds, clamped to what a caller can act on. */
export function retryDelay(
  answer: Pick<HttpAnswer, 'status' | 'header'>,
  message: string,
  { details }: Readonly<Record<string, unknown>>,
): number | undefined {
  const header = fromHeaders(answer)
  if (header !== undefined || !later.includes(answer.status)) return clamped(header)
  return writtenDelay(message, details)
}

/** The same without headers. */
export const writtenDelay = (message: string, details: unknown): number | undefined =>
  clamped(fromDetails(details) ?? fromText(message))

function fromHeaders(answer: Pick<HttpAnswer, 'status' | 'header'>): number | undefined {
  const value = answer.header('retry-after')
  if (value === undefined) {
    const ms = answer.header('retry-after-ms')
    return ms !== undefined && /^\d+(?:\.\d+)?$/.test(ms) ? Number(ms) / 1000 : undefined
  }
  return /^-?\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
}

/** `details: [{retryDelay: '34.5s'}]` */
function fromDetails(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const each of details) {
    const delay: unknown = isObject(each) ? each['retryDelay'] : undefined
    if (typeof delay === 'string' && /^\d+(?:\.\d+)?s$/.test(delay))
      return Number(delay.slice(0, -1))
  }
  return undefined
}

function fromText(message: string): number | undefined {
  const [, minutes, amount, unit] = written.exec(message) ?? []
  if (minutes === undefined && amount === undefined) return undefined
  return Number(minutes ?? 0) * 60 + Number(amount ?? 0) / (unit === 'ms' ? 1000 : 1)
}

const clamped = (seconds: number | undefined): number | undefined =>
  seconds !== undefined && Number.isFinite(seconds)
    ? Math.min(maxSeconds, Math.max(1, Math.ceil(seconds)))
    : undefined
