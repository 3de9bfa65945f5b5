// Compares this machine's clock with those of the servers it talks to. Signatures, expiries, the
// month of a charge and all ids depend on it.
import { maxAheadMs } from '../../engine/telemetry/clock-watch.ts'
import { type Finding, leftOut, ok, problem, warning } from './finding.ts'

export interface ClockReading {
  /** The host with that clock. */
  of: string
  theirMs: number
  /** Our time when theirs was read. */
  ourMs: number
  /** Maximum error: their resolution, and the round-trip time. */
  roughMs: number
  /** The gateway relies on it, and takes no work when it is too far off. */
  isReference?: true
}

const noticeableMs = 2_000
const harmfulMs = 30_000
/** A single deviating clock is theirs, not ours. */
const advice = 'let NTP set the clock: timedatectl set-ntp true'

export function checkClock(readings: readonly ClockReading[]): Finding {
  if (readings.length === 0) return leftOut('clock', 'there was nothing to compare it with')
  const offsets = readings
    .map(({ of, theirMs, ourMs, roughMs, isReference = false }) => {
      const raw = ourMs - theirMs
      return { of, isReference, ms: Math.sign(raw) * Math.max(0, Math.abs(raw) - roughMs) }
    })
    .toSorted((a, b) => a.ms - b.ms)
  const reference = offsets.find(({ isReference }) => isReference)
  const isRefused = reference !== undefined && Math.abs(reference.ms) > maxAheadMs
  const { of, ms } = isRefused ? reference : offsets[Math.floor(offsets.length / 2)]!
  const seconds = (Math.abs(ms) / 1_000).toFixed(1)
  const says = `${seconds} s ${ms < 0 ? 'behind' : 'ahead of'} ${of}`
  if (isRefused) return problem('clock', `${says}; the gateway takes no work like that`, advice)
  if (Math.abs(ms) >= harmfulMs) return problem('clock', says, advice)
  if (Math.abs(ms) >= noticeableMs) return warning('clock', says, advice)
  return ok(
    'clock',
    `agrees with ${of}${readings.length > 1 ? ` and ${readings.length - 1} more` : ''}`,
  )
}
