// Paging: one row more than asked for tells whether there is a next page, and the cursor is the
// encoded key of the last row shown, opaque to clients.

export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

export interface Page<T> {
  items: T[]
  nextCursor?: string
}

/** The cursor did not come from a list of this gateway. */
export class BadCursor extends Error {
  override name = 'BadCursor'
}

export function pageOf<Row, T>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => string | number,
  shape: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const page: Page<T> = { items: shown.map(shape) }
  if (rows.length > limit && last !== undefined) page.nextCursor = cursorAt(keyOf(last))
  return page
}

/** Cursor of a page that continues after this key. */
export const cursorAt = (key: string | number): string => wrap(String(key))

const wrap = (key: string) => Buffer.from(`:${key}`).toString('base64url')

export function textCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const key = text.slice(1)
  if (!text.startsWith(':') || wrap(key) !== cursor) throw new BadCursor('unknown cursor')
  return key
}

export function numberCursor(cursor: string): number {
  const key = textCursor(cursor)
  if (!/^\d{1,15}$/.test(key)) throw new BadCursor('unknown cursor')
  return Number(key)
}
