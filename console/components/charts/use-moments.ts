// What the steps of a chart are called, and the zone of its axis. Days and months are those of UTC.
import { useFormat } from '../../lib/format.ts'

export type StepSize = 'minute' | 'hour' | 'day' | 'month'

export function useMoments(by: StepSize = 'hour') {
  const format = useFormat()
  const iso = (ms: number) => new Date(ms).toISOString()
  const names = {
    minute: (ms: number) => format.minute(iso(ms)),
    hour: (ms: number) => format.minute(iso(ms)),
    day: (ms: number) => `${format.utcDay(iso(ms))} UTC`,
    month: (ms: number) => `${format.utcMonth(iso(ms))} UTC`,
  }
  const isUtc = by === 'day' || by === 'month'
  return { name: names[by], zone: isUtc ? 'UTC' : format.zone }
}
