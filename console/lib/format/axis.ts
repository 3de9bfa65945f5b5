// Times on the axis of a chart: the date for steps of days, else the clock, with seconds for short steps.

const formats = new Map<string, Intl.DateTimeFormat>()
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

function optionsFor(stepSeconds: number): Intl.DateTimeFormatOptions {
  if (stepSeconds >= 86_400) return { month: 'short', day: 'numeric' }
  return stepSeconds < 60 ? { ...clock, second: '2-digit' } : clock
}

export function tickText(
  locale: string,
  ms: number,
  timeZone: string,
  stepSeconds: number,
): string {
  const options = optionsFor(stepSeconds)
  const key = [locale, timeZone, ...Object.keys(options)].join(' ')
  let format = formats.get(key)
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale, { timeZone, ...options })
    formats.set(key, format)
  }
  return format.format(ms)
}
