// The hours of a price as weeks that can be painted: which minutes of seven local days the windows cover, one week for
// each zone, and back to windows. Pure.

export const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type DayName = (typeof dayNames)[number]

/** As a price declares one. */
export interface HoursWindow {
  days?: readonly DayName[] | undefined
  from: string
  to: string
  zone?: string | undefined
  factor: string
  except?: readonly string[] | undefined
}

/** Windows that differ in their times only. */
export interface Band {
  factor: string
  except: readonly string[]
  /** 1 for each minute of the week that it covers, from Monday on. */
  minutes: Uint8Array
}

export interface Week {
  zone: string
  /** The first that covers a moment applies. */
  bands: readonly Band[]
}

/** A part of an hour that a band has, in minutes. */
interface Slice {
  band: number
  from: number
  to: number
}

/** As many windows as a price may have. */
export const maxWindows = 16
export const hoursOfDay = 24
const hour = 60
const day = hoursOfDay * hour
const week = 7 * day

const minuteOf = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * hour + minutes
}

/** Midnight is the first minute of a day, also where a window ends. */
export const clockOf = (minute: number): string => {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${two(Math.floor((minute % day) / hour))}:${two(minute % hour)}`
}

export const newBand = (factor: string): Band => ({
  factor,
  except: [],
  minutes: new Uint8Array(week),
})

function cover(minutes: Uint8Array, { days, from, to }: HoursWindow): void {
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  const length = end > begin ? end - begin : day - begin + end
  for (const [i, name] of dayNames.entries()) {
    if (days !== undefined && !days.includes(name)) continue
    for (let at = 0; at < length; at++) minutes[(i * day + begin + at) % week] = 1
  }
}

/** One for each zone, in the order of the windows. */
export function weeksOf(windows: readonly HoursWindow[]): Week[] {
  const weeks = new Map<string, Map<string, Band>>()
  for (const each of windows) {
    const { zone = 'UTC', factor, except = [] } = each
    const bands = weeks.get(zone) ?? new Map<string, Band>()
    weeks.set(zone, bands)
    const name = `${factor} ${except.join(' ')}`
    const band = bands.get(name) ?? { ...newBand(factor), except }
    bands.set(name, band)
    cover(band.minutes, each)
  }
  return [...weeks].map(([zone, bands]) => ({ zone, bands: [...bands.values()] }))
}

interface Run {
  from: number
  /** As much as a whole day. */
  to: number
}

/** What is covered of one day. */
function runsOf(minutes: Uint8Array, at: number): Run[] {
  const runs: Run[] = []
  let from = -1
  for (let minute = 0; minute <= day; minute++) {
    const isCovered = minute < day && minutes[at * day + minute] === 1
    if (isCovered && from === -1) from = minute
    else if (!isCovered && from !== -1) {
      runs.push({ from, to: minute })
      from = -1
    }
  }
  return runs
}

/** What runs past midnight is one window, of the day on which it begins. */
function joinNights(days: Run[][]): void {
  for (const [i, runs] of days.entries()) {
    const last = runs.at(-1)
    const next = days[(i + 1) % days.length]!
    const first = next[0]
    if (last === undefined || first === undefined || last === first) continue
    if (last.to !== day || last.from === 0 || first.from !== 0 || first.to > last.from) continue
    last.to += first.to
    next.shift()
  }
}

function windowsOfBand({ factor, except, minutes }: Band, zone: string): HoursWindow[] {
  const days = dayNames.map((_, i) => runsOf(minutes, i))
  joinNights(days)
  const found = new Map<string, { run: Run; names: DayName[] }>()
  for (const [i, runs] of days.entries()) {
    for (const run of runs) {
      const name = `${run.from} ${run.to}`
      const same = found.get(name) ?? { run, names: [] }
      same.names.push(dayNames[i]!)
      found.set(name, same)
    }
  }
  return [...found.values()].map(({ run, names }) => ({
    ...(names.length < dayNames.length && { days: names }),
    from: clockOf(run.from),
    to: clockOf(run.to),
    ...(zone !== 'UTC' && { zone }),
    factor,
    ...(except.length > 0 && { except }),
  }))
}

export const windowsOf = (weeks: readonly Week[]): HoursWindow[] =>
  weeks.flatMap(({ zone, bands }) => bands.flatMap((band) => windowsOfBand(band, zone)))

/** Parts of an hour, by the band that applies; hours count from Monday. */
export function slicesOf(bands: readonly Band[], at: number): Slice[] {
  const slices: Slice[] = []
  for (let minute = 0; minute < hour; minute++) {
    const band = bands.findIndex(({ minutes }) => minutes[at * hour + minute] === 1)
    const last = slices.at(-1)
    if (last?.band === band) last.to = minute + 1
    else slices.push({ band, from: minute, to: minute + 1 })
  }
  return slices.filter(({ band }) => band !== -1)
}

/** Whether a band applies in the whole hour. */
export function hasWhole(bands: readonly Band[], band: number, at: number): boolean {
  const [only, ...others] = slicesOf(bands, at)
  return others.length === 0 && only?.band === band && only.to - only.from === hour
}

/** Gives whole hours to a band alone, or to none. */
export function painted(
  bands: readonly Band[],
  hours: readonly number[],
  band: number | undefined,
): Band[] {
  return bands.map((each, i) => {
    const minutes = each.minutes.slice()
    for (const at of hours) minutes.fill(i === band ? 1 : 0, at * hour, (at + 1) * hour)
    return { ...each, minutes }
  })
}

/** All hours between two, as a rectangle of days and hours. */
export function rectangle(one: number, other: number): number[] {
  const [days, hours] = [Math.floor, (at: number) => at % hoursOfDay].map((of, i) => {
    const at = [one, other].map((each) => of(i === 0 ? each / hoursOfDay : each))
    return [Math.min(...at), Math.max(...at)] as const
  }) as [readonly [number, number], readonly [number, number]]
  const found: number[] = []
  for (let d = days[0]; d <= days[1]; d++) {
    for (let h = hours[0]; h <= hours[1]; h++) found.push(d * hoursOfDay + h)
  }
  return found
}
