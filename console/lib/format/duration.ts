// Durations in words: 350 ms, 1.2 s, 10 min 11 s, 2 h 5 min.
import type { Text } from '../texts.ts'

const units = {
  ms: ['ms', '毫秒'],
  s: ['s', '秒'],
  min: ['min', '分'],
  h: ['h', '小时'],
} as const satisfies Record<string, Text>

/** `isShort`: without parts that are zero, as on axes: 0, 40 s, 1 min. */
export function durationText(
  ms: number,
  translate: (text: Text) => string,
  isShort = false,
): string {
  if (isShort) return shortText(ms, translate)
  const of = (value: number | string, unit: keyof typeof units) =>
    `${value} ${translate(units[unit])}`
  if (Math.round(ms) < 1000) return of(Math.round(ms), 'ms')
  if (ms < 59_950) return of((ms / 1000).toFixed(1), 's')
  const seconds = Math.round(ms / 1000)
  if (seconds < 3_600) return `${of(Math.floor(seconds / 60), 'min')} ${of(seconds % 60, 's')}`
  const minutes = Math.round(seconds / 60)
  return `${of(Math.floor(minutes / 60), 'h')} ${of(minutes % 60, 'min')}`
}

const shortText = (ms: number, translate: (text: Text) => string): string =>
  ms === 0
    ? '0'
    : durationText(ms, translate)
        .replace('.0 ', ' ')
        .replace(/ 0 \S+$/, '')
