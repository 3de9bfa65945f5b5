import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hoursAt } from '../../../src/contract/price-hours.ts'
import { termsFrom } from '../../../src/contract/price-terms.ts'
import {
  dayNames,
  type HoursWindow,
  hasWhole,
  newBand,
  painted,
  rectangle,
  slicesOf,
  weeksOf,
  windowsOf,
} from './week.ts'

// 2026-11-16 is a Monday.
const mondayMs = Date.UTC(2026, 10, 16)
const minuteMs = 60_000

/** The factor as the gateway charges it, at a minute of the week. */
function charged(hours: readonly HoursWindow[]): (minute: number) => string | undefined {
  const declared = { model: 'm', unit: 'video_token', per_million: '1', hours }
  const terms = termsFrom(declared as unknown as Parameters<typeof termsFrom>[0])
  return (minute) => {
    const index = hoursAt(terms, mondayMs + minute * minuteMs)
    return index === undefined ? undefined : hours[index]!.factor
  }
}

const clock = fc.tuple(fc.nat({ max: 23 }), fc.nat({ max: 59 })).map((pair) => {
  const [hours, minutes] = pair.map((n) => String(n).padStart(2, '0'))
  return `${hours}:${minutes}`
})
const factors = ['0.5', '2', '1.25'] as const
const anyWindow: fc.Arbitrary<HoursWindow> = fc.record(
  {
    days: fc.subarray([...dayNames], { minLength: 1 }),
    from: clock,
    to: clock,
    factor: fc.constantFrom(...factors),
  },
  { requiredKeys: ['from', 'to', 'factor'] },
)
/** Each hour of the week, and some odd minutes. */
const moments = Array.from({ length: 7 * 24 * 4 }, (_, i) => i * 15 + (i % 7))

describe('a week of hours', () => {
  test('shows the factor that the gateway charges by', () => {
    fc.assert(
      fc.property(fc.array(anyWindow, { maxLength: 4 }), (windows) => {
        // The first that fits applies; of one factor all windows stand together.
        const sorted = windows.toSorted((a, b) => Number(a.factor) - Number(b.factor))
        const [week = { zone: 'UTC', bands: [] }] = weeksOf(sorted)
        const at = charged(sorted)
        for (const minute of moments) {
          const slice = slicesOf(week.bands, Math.floor(minute / 60)).find(
            ({ from, to }) => from <= minute % 60 && minute % 60 < to,
          )
          const shown = slice === undefined ? undefined : week.bands[slice.band]!.factor
          expect(shown).toBe(at(minute))
        }
      }),
      { numRuns: 20 },
    )
  })

  test('becomes windows that are charged as it is painted', () => {
    const strokes = fc.array(
      fc.tuple(fc.nat({ max: 167 }), fc.nat({ max: 167 }), fc.constantFrom(0, 1, undefined)),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(strokes, (all) => {
        let bands = [newBand('0.5'), newBand('2')]
        for (const [one, other, band] of all) bands = painted(bands, rectangle(one, other), band)
        const at = charged(windowsOf([{ zone: 'UTC', bands }]))
        for (let hour = 0; hour < 168; hour++) {
          const band = [0, 1].find((each) => hasWhole(bands, each, hour))
          const expected = band === undefined ? undefined : bands[band]!.factor
          expect([at(hour * 60), at(hour * 60 + 59)]).toEqual([expected, expected])
        }
      }),
      { numRuns: 20 },
    )
  })

  test('keeps zone, exceptions and nights that run past midnight', () => {
    const windows: HoursWindow[] = [
      {
        ...{ days: ['mon', 'sun'], from: '22:30', to: '06:00', zone: 'Asia/Shanghai' },
        ...{ factor: '0.5', except: ['2026-12-25'] },
      },
      { from: '09:00', to: '18:00', zone: 'Asia/Shanghai', factor: '2' },
      { days: ['sat'], from: '00:00', to: '00:00', factor: '0.8' },
    ]
    const weeks = weeksOf(windows)
    expect(weeks.map(({ zone, bands }) => [zone, bands.length])).toEqual([
      ['Asia/Shanghai', 2],
      ['UTC', 1],
    ])
    expect(windowsOf(weeks)).toEqual(windows)
  })
})
