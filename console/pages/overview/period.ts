// The time that the overview is about: the chosen range, or one bar of it. A bar is in the address.

import { type Period, periodOf } from '../../lib/resources/usage.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { type Range, spans } from './traffic.ts'

const hourMs = 3_600_000
const stepMs = { hour: hourMs, day: 24 * hourMs } as const
type Step = keyof typeof stepMs

export interface Chosen {
  range: Range
  /** What figures and lists are about. */
  period: Period
  /** As much time before it. */
  before: Period
  /** The bar that was clicked. */
  bar: { at: string; step: Step } | undefined
  /** A bar that is clicked again is let go. */
  pick: (atMs: number, step: Step) => void
  clear: () => void
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** Not later than the end of the range, which is the hour that runs. */
export function barPeriod(atMs: number, step: Step, range: Period): Period {
  const fromMs = Math.max(atMs, Date.parse(range.from))
  return { from: iso(fromMs), to: iso(Math.min(atMs + stepMs[step], Date.parse(range.to))) }
}

/** The same hours of the day before, or as much of the hour before. */
const stepBefore = ({ from, to }: Period, step: Step): Period => ({
  from: iso(Date.parse(from) - stepMs[step]),
  to: iso(Date.parse(to) - stepMs[step]),
})

export function useChosen(range: Range): Chosen {
  const [at, setAt] = useQueryValue('at')
  const whole = periodOf(spans[range].days)
  const [, step, time = ''] = /^(hour|day):(.+)$/.exec(at ?? '') ?? []
  const atMs = Date.parse(time)
  const isIn = atMs < Date.parse(whole.to) && atMs > Date.parse(whole.from) - stepMs.day
  const bar = isIn ? { at: iso(atMs), step: step as Step } : undefined
  const period = bar === undefined ? whole : barPeriod(atMs, bar.step, whole)
  return {
    ...{ range, period },
    before: bar === undefined ? periodOf(spans[range].days, 1) : stepBefore(period, bar.step),
    bar,
    pick(pickedMs, pickedStep) {
      const next = `${pickedStep}:${iso(pickedMs)}`
      setAt(next === at ? undefined : next, 'replace')
    },
    clear: () => setAt(undefined, 'replace'),
  }
}
