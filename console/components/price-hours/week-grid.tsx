// Seven days of 24 hours, each hour in the colour and with the letter of the factor that applies. Where it can be
// painted, by pointer or keyboard, it says which hours to give to the chosen factor.
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { restColor, seriesColors } from '../charts/series.ts'
import { hoursMessages } from './messages.ts'
import { type Band, clockOf, dayNames, hasWhole, hoursOfDay, rectangle, slicesOf } from './week.ts'

export const letterOf = (band: number): string => String.fromCharCode(65 + (band % 26))
export const colorOf = (band: number): string => seriesColors[band] ?? restColor

interface Brush {
  band: number
  /** To the chosen factor, or to none. */
  onPaint: (hours: readonly number[], isOn: boolean) => void
}

/** A stroke of the pointer: where it began, and whether it paints or clears. */
interface Stroke {
  from: number
  isOn: boolean
}

const hoursOfWeek = 7 * hoursOfDay
const columns = Array.from({ length: hoursOfDay }, (_, at) => at)
/** Of the headings above: every third has its number. */
const headingStep = 3

export function WeekGrid({
  zone,
  bands,
  brush,
}: {
  zone: string
  bands: readonly Band[]
  brush?: Brush | undefined
}) {
  const t = useMessages(hoursMessages)
  const table = useRef<HTMLTableElement>(null)
  const strokes = useStrokes(bands, brush)
  const keys = useKeys(bands, brush, table)
  return (
    <table
      ref={table}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its cells are chosen
      role="grid"
      aria-label={t('grid', { zone })}
      aria-readonly={brush === undefined}
      className="week-grid"
      {...strokes.handlers}
      {...keys.handlers}
    >
      <thead>
        <tr>
          <td />
          {columns.map((at) => (
            <th key={at} scope="col">
              {at % headingStep === 0 ? at : ''}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {dayNames.map((name, day) => (
          <tr key={name}>
            <th scope="row">{t(name)}</th>
            {columns.map((at) => (
              <HourCell
                key={at}
                at={day * hoursOfDay + at}
                bands={bands}
                tabIndex={brush && (keys.at === day * hoursOfDay + at ? 0 : -1)}
                isMarked={strokes.marked.has(day * hoursOfDay + at)}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function HourCell({
  at,
  bands,
  tabIndex,
  isMarked,
}: {
  at: number
  bands: readonly Band[]
  tabIndex: number | undefined
  isMarked: boolean
}) {
  const t = useMessages(hoursMessages)
  const slices = slicesOf(bands, at)
  const [first] = slices
  const clock = (at % hoursOfDay) * 60
  const said = slices.map(({ band, from, to }) => {
    const whole = to - from === 60 ? '' : `${clockOf(clock + from)}–${clockOf(clock + to)} `
    return `${whole}× ${bands[band]!.factor}`
  })
  const when = `${t(dayNames[Math.floor(at / hoursOfDay)]!)} ${clockOf(clock)}–${clockOf(clock + 60)}`
  const label = `${when}: ${said.join(', ') || t('plain')}`
  return (
    <td
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: it is painted
      role="gridcell"
      data-hour={at}
      data-marked={isMarked || undefined}
      tabIndex={tabIndex}
      aria-selected={first !== undefined}
      aria-label={label}
      title={label}
      style={{ background: shadeOf(slices) }}
    >
      {first === undefined ? '' : letterOf(first.band)}
    </td>
  )
}

/** The colours of the parts of an hour, from left to right. */
function shadeOf(slices: ReturnType<typeof slicesOf>): string {
  if (slices.length === 0) return 'transparent'
  const stops = ['transparent 0']
  for (const { band, from, to } of slices) {
    const [begin, end] = [from, to].map((minute) => `${(minute / 60) * 100}%`)
    const color = `color-mix(in srgb, ${colorOf(band)} 32%, transparent)`
    stops.push(`transparent ${begin}`, `${color} ${begin}`, `${color} ${end}`, `transparent ${end}`)
  }
  return `linear-gradient(to right, ${stops.join(', ')})`
}

/** The hour under the pointer, also where a finger is held by the cell on which it began. */
function hourAt({ clientX, clientY }: PointerEvent): number | undefined {
  const cell = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-hour]')
  return cell === null || cell === undefined ? undefined : Number(cell.dataset['hour'])
}

/** Rectangles that the pointer draws; they are painted when it is lifted. */
function useStrokes(bands: readonly Band[], brush: Brush | undefined) {
  const [stroke, setStroke] = useState<Stroke>()
  const [to, setTo] = useState<number>()
  const hours = stroke === undefined ? [] : rectangle(stroke.from, to ?? stroke.from)
  const end = () => {
    setStroke(undefined)
    setTo(undefined)
  }
  const handlers = brush && {
    onPointerDown: (event: PointerEvent) => {
      const at = event.button === 0 ? hourAt(event) : undefined
      if (at === undefined) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setStroke({ from: at, isOn: !hasWhole(bands, brush.band, at) })
      setTo(at)
    },
    onPointerMove: (event: PointerEvent) => {
      const at = stroke && hourAt(event)
      if (at !== undefined) setTo(at)
    },
    onPointerUp: () => {
      if (stroke !== undefined) brush.onPaint(hours, stroke.isOn)
      end()
    },
    onPointerCancel: end,
  }
  return { handlers, marked: new Set(hours) }
}

const steps: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -hoursOfDay,
  ArrowDown: hoursOfDay,
}

/** One cell has the focus; arrows move it, space paints, and both together paint on the way. */
function useKeys(
  bands: readonly Band[],
  brush: Brush | undefined,
  table: { current: HTMLTableElement | null },
) {
  const [at, setAt] = useState(0)
  const move = (to: number) => {
    setAt(to)
    table.current?.querySelector<HTMLElement>(`[data-hour="${to}"]`)?.focus()
  }
  const handlers = brush && {
    onFocus: (event: { target: EventTarget }) => {
      const hour = (event.target as HTMLElement).dataset['hour']
      if (hour !== undefined) setAt(Number(hour))
    },
    onKeyDown: (event: KeyboardEvent) => {
      const isOn = !hasWhole(bands, brush.band, at)
      const to = at + (steps[event.key] ?? 0)
      if (event.key === ' ' || event.key === 'Enter') brush.onPaint([at], isOn)
      else if (event.key === 'Home') move(at - (at % hoursOfDay))
      else if (event.key === 'End') move(at - (at % hoursOfDay) + hoursOfDay - 1)
      else if (to === at) return
      else if (to >= 0 && to < hoursOfWeek) {
        // What was painted last goes on.
        if (event.shiftKey) brush.onPaint([to], !isOn)
        move(to)
      }
      event.preventDefault()
    },
  }
  return { at, handlers }
}
