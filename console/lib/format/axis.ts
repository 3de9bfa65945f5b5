// Times on the axis of a chart: the clock within a day, the date beyond.

const formats = new Map<string, Intl.DateTimeFormat>()

export function tickText(locale: string, ms: number, timeZone: string, isDay: boolean): string {
  const key = `${locale} ${timeZone} ${isDay}`
  let format = formats.get(key)
  if (format === undefined) {
    const options: Intl.DateTimeFormatOptions = isDay
      ? { month: 'short', day: 'numeric' }
      : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
    format = new Intl.DateTimeFormat(locale, { timeZone, ...options })
    formats.set(key, format)
  }
  return format.format(ms)
}
