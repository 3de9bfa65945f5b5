// The one time zone of the console: the browser's, unless the reader chose another. Fields for date and
// time show its clock.
import { useStoredText } from '../storage.ts'

const storageKey = 'gateway-time-zone'

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

function isKnown(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

/** The zone in use, and its setter; undefined is the browser's. */
export function useTimeZone(): [zone: string, set: (zone: string | undefined) => void] {
  const [stored, store] = useStoredText(storageKey)
  return [stored !== undefined && isKnown(stored) ? stored : browserZone(), store]
}

/** For a choice: UTC first, then all that the browser knows. */
export const zoneNames = (): string[] => [
  ...new Set(['UTC', browserZone(), ...Intl.supportedValuesOf('timeZone')]),
]

/** How far the clock of a zone is ahead of UTC. */
function offsetMs(zone: string, atMs: number): number {
  // Swedish writes 2026-11-17 05:30:05.
  const options = { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' } as const
  const clock = new Intl.DateTimeFormat('sv-SE', options).format(atMs)
  return Date.parse(`${clock.replace(' ', 'T')}Z`) - Math.floor(atMs / 1000) * 1000
}

/** Asia/Shanghai (UTC+8). */
export function zoneText(zone: string, atMs = Date.now()): string {
  if (zone === 'UTC') return zone
  const minutes = Math.round(offsetMs(zone, atMs) / 60_000)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const past = rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`
  return `${zone} (UTC${minutes < 0 ? '−' : '+'}${hours}${past})`
}

/** A moment as a field for date and time takes it; empty if it is none. */
export function wallClock(moment: string | undefined, zone: string): string {
  const atMs = Date.parse(moment ?? '')
  if (Number.isNaN(atMs)) return ''
  return new Date(atMs + offsetMs(zone, atMs)).toISOString().slice(0, 19)
}

/** The moment of a clock's time; empty if it is none. A time that the clock skips counts as the hour after. */
export function fromWallClock(text: string, zone: string): string {
  const clockMs = Date.parse(`${text.trim()}Z`)
  if (Number.isNaN(clockMs)) return ''
  const guessMs = clockMs - offsetMs(zone, clockMs)
  return new Date(clockMs - offsetMs(zone, guessMs)).toISOString()
}
