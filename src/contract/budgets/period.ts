// Calendar periods in IANA time zones: the day, week (from Monday) or month that a moment lies in. A
// day begins at its first moment, which is not midnight where clocks are put forward then.

export const periods = ['total', 'day', 'week', 'month'] as const
export type Per = (typeof periods)[number]

export interface Period {
  /** 0 for the total. */
  fromMs: number
  /** Infinity for the total. */
  untilMs: number
}

const dayMs = 86_400_000
/** No zone is further from UTC. */
const maxOffsetMs = 16 * 3_600_000

const formats = new Map<string, Intl.DateTimeFormat>()

function formatFor(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric' } as const
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...parts })
  formats.set(zone, format)
  return format
}

/** An IANA name such as Asia/Shanghai; offsets such as +08:00 are not names. */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false
  try {
    formatFor(text)
    return true
  } catch {
    return false
  }
}

/** Date of a moment in a zone, as days since 1970-01-01. */
function dayAt(ms: number, zone: string): number {
  if (zone === 'UTC') return Math.floor(ms / dayMs)
  const [month, day, year] = formatFor(zone).format(ms).split('/').map(Number)
  return Date.UTC(year!, month! - 1, day) / dayMs
}

/** The first moment of a date or, where a zone skips it, of the next. */
function startOfDay(day: number, zone: string): number {
  if (zone === 'UTC') return day * dayMs
  let before = day * dayMs - maxOffsetMs
  let within = day * dayMs + maxOffsetMs
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2)
    if (dayAt(middle, zone) >= day) within = middle
    else before = middle
  }
  return within
}

/** First day of the period with this day, and of the next one. */
function daysOf(day: number, per: Exclude<Per, 'total'>): [from: number, until: number] {
  if (per === 'day') return [day, day + 1]
  if (per === 'week') {
    // 1970-01-01 was a Thursday.
    const monday = day - ((((day + 3) % 7) + 7) % 7)
    return [monday, monday + 7]
  }
  const date = new Date(day * dayMs)
  const first = (plus: number) =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + plus, 1) / dayMs
  return [first(0), first(1)]
}

export function periodAt(ms: number, per: Per, zone: string): Period {
  if (per === 'total') return { fromMs: 0, untilMs: Number.POSITIVE_INFINITY }
  const [from, until] = daysOf(dayAt(ms, zone), per)
  const untilMs = startOfDay(until, zone)
  // The date is behind where clocks were put back over midnight.
  if (untilMs <= ms) return { fromMs: untilMs, untilMs: startOfDay(daysOf(until, per)[1], zone) }
  return { fromMs: startOfDay(from, zone), untilMs }
}
