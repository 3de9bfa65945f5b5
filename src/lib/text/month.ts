// Calendar months by UTC, named as in '2026-11'.

export interface Stretch {
  fromMs: number
  untilMs: number
}

/** Undefined when the text names no month. */
export function monthBounds(text: string): Stretch | undefined {
  const [, year, month] = /^([2-9]\d{3})-(\d{2})$/.exec(text) ?? []
  if (year === undefined || Number(month) < 1 || Number(month) > 12) return undefined
  const first = (plus: number) => Date.UTC(Number(year), Number(month) - 1 + plus, 1)
  return { fromMs: first(0), untilMs: first(1) }
}

export const monthAt = (ms: number): string => new Date(ms).toISOString().slice(0, 7)

/** That many months later, or earlier if negative. */
export function monthPlus(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return monthAt(Date.UTC(year, number - 1 + months, 1))
}
