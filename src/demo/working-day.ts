// When a customer calls: by day more than by night, less or more at the weekend, more or less as weeks go by.
import type { Customer } from './company.ts'
import type { Random } from './random.ts'

/** Shares of the hours of a local day. */
const hours = [
  ...[2, 1, 1, 1, 1, 2, 5, 12, 26, 38, 42, 40],
  ...[30, 36, 42, 41, 37, 28, 18, 13, 10, 8, 5, 3],
]
const whole = hours.reduce((sum, each) => sum + each, 0)
export const historyDays = 56
export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** How busy a working day is at this moment, from 0 to 1. */
export const activityAt = (zone: string, ms: number): number =>
  hours[new Date(ms + offsetMs(zone, ms)).getUTCHours()]! / Math.max(...hours)

/** Of local time over UTC. */
function offsetMs(zone: string, ms: number): number {
  const local = new Date(ms).toLocaleString('sv-SE', { timeZone: zone })
  return Date.parse(`${local.replace(' ', 'T')}Z`) - (ms - (ms % 1_000))
}

/** The moments of the calls of a day, in UTC. */
export function callsIn(
  { zone, perDay, weekend, growth }: Customer,
  day: number,
  dayStartMs: number,
  random: Random,
): number[] {
  const size = perDay * growth ** (day / (historyDays - 1)) * (0.8 + 0.4 * random.next())
  const times: number[] = []
  const ahead = offsetMs(zone, dayStartMs)
  for (let at = 0; at < 24; at++) {
    const fromMs = dayStartMs + at * hourMs
    const local = new Date(fromMs + ahead)
    const isWeekend = [0, 6].includes(local.getUTCDay())
    const expected = (size * hours[local.getUTCHours()]! * (isWeekend ? weekend : 1)) / whole
    const count = Math.floor(expected + random.next())
    for (let call = 0; call < count; call++) times.push(fromMs + Math.floor(random.next() * hourMs))
  }
  return times
}
