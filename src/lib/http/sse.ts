// Server-sent events as bytes: their boundaries and data. Knows no protocol.

const blankLine = Buffer.from('\n\n')
const dosBlankLine = Buffer.from('\r\n\r\n')
const cr = 0x0d
const lf = 0x0a
const namePrefix = 'event: '
const dataPrefix = 'data: '

/** Index just after the last blank line; 0 when no event is complete yet. */
export function endOfLastEvent(bytes: Buffer): number {
  const last = bytes.length - 1
  if (last >= 1 && bytes[last] === 0x0a && bytes[last - 1] === 0x0a) return bytes.length
  const unix = bytes.lastIndexOf(blankLine)
  const dos = bytes.lastIndexOf(dosBlankLine)
  return Math.max(unix === -1 ? 0 : unix + 2, dos === -1 ? 0 : dos + 4)
}

/** Index where the event that contains this byte begins. */
export function startOfEvent(bytes: Buffer, at: number): number {
  const unix = bytes.lastIndexOf(blankLine, at)
  const start = unix === -1 ? 0 : unix + 2
  // Not looked for in all events before: there are thousands, and most streams have none.
  const dos = bytes.subarray(start, at + dosBlankLine.length).lastIndexOf(dosBlankLine)
  return dos === -1 ? start : start + dos + dosBlankLine.length
}

/** Complete events, each with its closing blank line. */
export function splitEvents(text: string): string[] {
  const events: string[] = []
  let [unix, dos] = [text.indexOf('\n\n'), text.indexOf('\r\n\r\n')]
  for (let at = 0; ; ) {
    // What is not there is not looked for again: a text may have thousands of events.
    if (unix !== -1 && unix < at) unix = text.indexOf('\n\n', at)
    if (dos !== -1 && dos < at) dos = text.indexOf('\r\n\r\n', at)
    if (unix === -1 && dos === -1) return events
    const isDos = dos !== -1 && (unix === -1 || dos < unix)
    const end = isDos ? dos + 4 : unix + 2
    events.push(text.slice(at, end))
    at = end
  }
}

/** The event's data, its lines joined; undefined for comments and other fields. */
export function dataOf(event: string): string | undefined {
  const nameEnd = event.startsWith(namePrefix) ? event.indexOf('\n') : -1
  if (event.startsWith(dataPrefix, nameEnd + 1)) {
    const start = nameEnd + 1 + dataPrefix.length
    const feed = event.indexOf('\n', start)
    if (feed === event.length - 2) return event.slice(start, lineEnd(event, feed))
    if (feed === event.length - 3 && event.endsWith('\r\n\r\n')) return event.slice(start, -4)
  }
  const lines = withoutMark(event)
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
  if (lines.length === 0) return undefined
  return lines.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n')
}

/** The value after `event:`. */
export function nameOf(event: string): string | undefined {
  const feed = event.startsWith(namePrefix) ? event.indexOf('\n') : -1
  const usual = feed === -1 ? undefined : event.slice(namePrefix.length, lineEnd(event, feed))
  if (usual !== undefined && !usual.includes('\r')) return usual
  return /^event: ?([^\r\n]*)/m.exec(withoutMark(event))?.[1]
}

/** Some servers begin their stream with a byte order mark. */
const withoutMark = (event: string): string => (event[0] === '\ufeff' ? event.slice(1) : event)

/** Takes the data and the name of an event; false: no more. `at`, `end`: where the event is. */
export type TakeEvent = (
  data: string,
  name: string | undefined,
  text: string,
  at: number,
  end: number,
) => boolean

/**
 * The data and the name of each complete event that has data. Stops when `take` returns false. The
 * usual forms, one line of data with or without a line with the name before it, are cut out directly.
 * `skip`: where the next event begins that it has not handled itself.
 */
export function eachEvent(
  text: string,
  take: TakeEvent,
  skip: (text: string, at: number) => number = (_, at) => at,
): void {
  for (let at = skip(text, 0); at < text.length; at = skip(text, at)) {
    const nameEnd = text.startsWith(namePrefix, at) ? text.indexOf('\n', at) : -1
    const data = nameEnd === -1 ? at : nameEnd + 1
    const dataEnd = text.startsWith(dataPrefix, data) ? text.indexOf('\n', data) : -1
    const end = dataEnd === -1 ? -1 : afterBlankLine(text, dataEnd)
    if (end === -1) {
      const next = endOfEventIn(text, at)
      if (next === -1) return
      const event = text.slice(at, next)
      const lines = dataOf(event)
      if (lines !== undefined && !take(lines, nameOf(event), text, at, next)) return
      at = next
      continue
    }
    const name =
      nameEnd === -1 ? undefined : text.slice(at + namePrefix.length, lineEnd(text, nameEnd))
    const line = text.slice(data + dataPrefix.length, lineEnd(text, dataEnd))
    if (!take(line, name, text, at, end)) return
    at = end
  }
}

/** Without the carriage return before the line feed. */
const lineEnd = (text: string, feed: number): number =>
  text.charCodeAt(feed - 1) === cr ? feed - 1 : feed

/** Where the next line begins if the one behind this line feed is empty, else -1. */
function afterBlankLine(text: string, feed: number): number {
  if (text.charCodeAt(feed + 1) === lf) return feed + 2
  return text.startsWith('\r\n\r\n', feed - 1) ? feed + 3 : -1
}

function endOfEventIn(text: string, start: number): number {
  for (let feed = text.indexOf('\n', start); feed !== -1; feed = text.indexOf('\n', feed + 1)) {
    if (text.charCodeAt(feed + 1) === lf) return feed + 2
    if (feed > start && text.startsWith('\r\n\r\n', feed - 1)) return feed + 3
  }
  return -1
}

/** Index just after the event that begins at `start`. */
export function endOfEvent(bytes: Buffer, start: number): number {
  // Line by line: to look for both kinds of blank lines would read all events that follow for each.
  for (let feed = bytes.indexOf(lf, start); feed !== -1; feed = bytes.indexOf(lf, feed + 1)) {
    if (bytes[feed + 1] === lf) return feed + 2
    const isDos = bytes[feed - 1] === cr && bytes[feed + 1] === cr && bytes[feed + 2] === lf
    if (isDos && feed > start) return feed + 3
  }
  return bytes.length
}

/** Whether the event at `at` has the shape of others; it ends before `end`. */
export interface Shape {
  fits(bytes: Buffer, at: number, end: number): boolean
}

/**
 * Where the first event between `start` and `end` begins that is not one line of `data: {…}`; -1 if
 * there is none. With `names`, each must be preceded by an `event: …` line that begins with one of
 * them. `seen` receives the number of regular events. Checks only both ends of each event: parsing
 * every one would cost more than forwarding it. `shape`: what else each must have.
 */
export function findOddEvent(
  bytes: Buffer,
  start: number,
  end: number,
  seen: { events: number },
  names?: readonly Buffer[],
  shape?: Shape,
): number {
  let at = start
  while (at < end) {
    const data = names === undefined ? at : dataAfterName(bytes, at, names)
    const feed = bytes.indexOf(lf, data)
    const hasReturn = bytes[feed - 1] === cr
    const close = hasReturn ? feed - 1 : feed
    const next = hasReturn && bytes[feed + 1] === cr ? feed + 2 : feed + 1
    const usual =
      feed !== -1 &&
      bytes[next] === lf &&
      bytes[close - 1] === 0x7d && // }
      bytes[data + 6] === 0x7b && // {
      bytes[data] === 0x64 && // d
      bytes[data + 5] === 0x20 &&
      data + 6 < close
    if (!usual || (shape !== undefined && !shape.fits(bytes, at, close))) return at
    seen.events++
    at = next + 1
  }
  return -1
}

const nameAt = 'event: '.length

/** Where the line after `event: <name>…` begins; beyond the end when the name is another. */
function dataAfterName(bytes: Buffer, start: number, names: readonly Buffer[]): number {
  if (bytes[start] !== 0x65 || bytes[start + nameAt - 1] !== 0x20) return bytes.length
  for (const name of names) {
    if (!startsWith(bytes, start + nameAt, name)) continue
    return bytes.indexOf(0x0a, start + nameAt + name.length) + 1
  }
  return bytes.length
}

function startsWith(bytes: Buffer, at: number, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false
  return true
}
