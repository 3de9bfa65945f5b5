// Places in a list that is sorted by a figure: their fixed order, the cursor of one, and the first ones after it.
import { BadCursor, cursorAt, textCursor } from '../sql/cursor.ts'
import type { Figure } from './figures.ts'
import type { LogFilter } from './search.ts'

/** `time`: as the log was written. */
export type LogSort = Figure | 'time'

export interface SortedQuery {
  filter: LogFilter
  sort: LogSort
  /** The smallest comes first. */
  isRising: boolean
  limit: number
  cursor?: string | undefined
}

/** A row by what it is sorted by, then by its number; where its task has the figure, by the ID of the task. */
export interface Place {
  figure: number
  seq: number
  task?: { id: string; requestId: string }
}

export const cursorOf = ({ figure, seq, task }: Place): string =>
  cursorAt(task === undefined ? `${figure}.${seq}` : `${figure}.${task.id}`)

function placeIn(cursor: string): Place {
  const [, figure, seq, id] =
    /^(\d{1,19})\.(?:(\d{1,16})|([a-z]\w+))$/.exec(textCursor(cursor)) ?? []
  if (figure === undefined) throw new BadCursor('unknown cursor')
  return {
    figure: Number(figure),
    seq: Number(seq ?? 0),
    ...(id !== undefined && { task: { id, requestId: '' } }),
  }
}

/** The first places after the cursor, in order: one more than are shown tells whether there is a next page. */
export class Best {
  readonly places: Place[] = []
  readonly after: Place | undefined
  readonly sign: 1 | -1
  /** Set where the list was not read to its end. */
  end?: Place
  readonly #max: number

  constructor({ isRising, limit, cursor }: SortedQuery) {
    this.sign = isRising ? -1 : 1
    this.after = cursor === undefined ? undefined : placeIn(cursor)
    this.#max = limit + 1
  }

  get #worst(): Place | undefined {
    return this.places.length < this.#max ? undefined : this.places.at(-1)
  }

  /** Negative: `a` comes before `b`. Rows with a figure of their own come before those of tasks. */
  #compare(a: Place, b: Place): number {
    if (a.figure !== b.figure) return this.sign * (b.figure - a.figure)
    if ((a.task === undefined) !== (b.task === undefined)) return a.task === undefined ? -1 : 1
    if (a.task !== undefined && b.task !== undefined) {
      return a.task.id === b.task.id ? 0 : this.sign * (a.task.id < b.task.id ? 1 : -1)
    }
    return this.sign * (b.seq - a.seq)
  }

  /** Whether a column with these bounds may have one of the places. */
  mayHave(lowest: number, highest: number): boolean {
    const [best, last] = this.sign === 1 ? [highest, lowest] : [lowest, highest]
    const worst = this.#worst
    if (worst !== undefined && this.sign * (worst.figure - best) > 0) return false
    return this.after === undefined || this.sign * (this.after.figure - last) >= 0
  }

  /** False: it comes after all of them. */
  add(place: Place): boolean {
    if (this.after !== undefined && this.#compare(place, this.after) <= 0) return true
    const worst = this.#worst
    if (worst !== undefined && this.#compare(place, worst) >= 0) return false
    let [low, high] = [0, this.places.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#compare(this.places[middle]!, place) < 0) low = middle + 1
      else high = middle
    }
    const there = this.places[low]
    if (there !== undefined && this.#compare(there, place) === 0) return true
    this.places.splice(low, 0, place)
    if (this.places.length > this.#max) this.places.pop()
    return true
  }

  /** Nothing is known of what comes after this place. */
  endAt(place: Place): void {
    while (this.places.length > 0 && this.#compare(place, this.places.at(-1)!) < 0)
      this.places.pop()
    this.end = place
  }
}
