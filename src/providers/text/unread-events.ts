// Which stream events may pass unparsed, as byte patterns, and what of the others is put right.

import { EventShape, SharedShapes } from '../../lib/http/event-shape.ts'
import { endOfEvent } from '../../lib/http/sse.ts'
import { mayBeDeep } from './read-events.ts'
import type { Json, StreamState, StreamStyle } from './style.ts'

export interface Unread {
  names: readonly Buffer[] | undefined
  texts: readonly Buffer[]
  /** Of the unparsed events with this text, the last one of a read is parsed later. */
  late: Buffer | undefined
  /** Of the first event, where it is unparsed: read at the end. */
  first: Buffer | undefined
  /** How events are written that are whole. */
  shapes: SharedShapes
}
const known = new WeakMap<StreamStyle, Unread>()

/** Made once per style, not once per stream. */
export function unreadOf(style: StreamStyle): Unread {
  const made = known.get(style)
  if (made !== undefined) return made
  const { unread, late } = style
  const shapes = new SharedShapes()
  const first = style.first === undefined ? undefined : Buffer.from(style.first)
  const given =
    'named' in unread
      ? { names: bytesOf(unread.named), texts: [], late: undefined, first, shapes }
      : {
          names: undefined,
          texts: bytesOf(unread.without),
          late: late === undefined ? undefined : Buffer.from(late),
          first,
          shapes,
        }
  known.set(style, given)
  return given
}

/** The same where no event may be left out: each may be about another choice. */
export const withoutLate = (unread: Unread): Unread => {
  const { texts, late } = unread
  return late === undefined ? unread : { ...unread, texts: [...texts, late], late: undefined }
}

/** A stream's first event, if it has the text of such; else empty. */
export function firstEvent(whole: Buffer, from: number, { first }: Unread): string {
  if (first === undefined) return ''
  const event = whole.subarray(from, endOfEvent(whole, from))
  return event.includes(first) ? event.toString() : ''
}

const bytesOf = (texts: readonly string[]) => texts.map((text) => Buffer.from(text))

/** Index of the earliest sign from `at` on; `found` caches the next position of each. */
export function nextSign(
  bytes: Buffer,
  at: number,
  signs: readonly Buffer[],
  found: number[],
): number {
  let first = -1
  for (let i = 0; i < signs.length; i++) {
    let next = found[i]
    if (next === undefined || (next !== -1 && next < at)) {
      next = bytes.indexOf(signs[i]!, at)
      found[i] = next
    }
    if (next !== -1 && (first === -1 || next < first)) first = next
  }
  return first
}

/** Whether an event must be parsed. */
export function isSign(data: string, { unread, late }: StreamStyle): boolean {
  if ('named' in unread || (late !== undefined && data.includes(late))) return true
  return unread.without.some((sign) => data.includes(sign))
}

/** Puts what clients rely on into the events of one stream. */
export class EventRepair {
  /** Undefined when unparsed events pass as they are. */
  readonly shape: EventShape | undefined
  readonly #repair: NonNullable<StreamStyle['repair']>
  readonly #state: StreamState

  constructor(style: StreamStyle, repair: NonNullable<StreamStyle['repair']>, state: StreamState) {
    const { repairIn, textField } = style
    if (repairIn !== undefined) {
      this.shape = new EventShape(repairIn, textField, unreadOf(style).shapes)
    }
    this.#repair = repair
    this.#state = state
  }

  /** The same value when nothing is missing. */
  apply(value: Json, event: string, data: string): Json {
    const repaired = this.#repair(value, this.#state)
    if (repaired === value) this.shape?.learn(event)
    else this.shape?.distrust()
    // Of one that is too deep there is only an outline.
    return repaired === value || mayBeDeep(data) ? value : repaired
  }
}
