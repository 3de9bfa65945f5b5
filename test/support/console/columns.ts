// Tables of the console as programs read them: every cell under its heading, with the exact amount that its
// title holds, compared with rows of the admin API.
import { expect } from 'bun:test'
import type { Locator } from 'playwright-core'

interface Cell {
  text: string
  title: string
}

/** Of an element of the page, what is read here. */
interface Place {
  textContent: string | null
  getAttribute(name: string): string | null
  querySelector(selector: string): Place | null
  querySelectorAll(selector: string): Iterable<Place>
}

/** Runs in the browser. */
function readCells(table: Place): Record<string, Cell>[] {
  const all = (place: Place, role: string) => [...place.querySelectorAll(`[role=${role}]`)]
  // The unit of a column stands after its name.
  const heads = all(table, 'columnheader').map((each) =>
    (each.textContent?.trim() ?? '').replace(/, [A-Z]{3}$/, ''),
  )
  return all(table, 'row')
    .map((row) => all(row, 'cell'))
    .filter((cells) => cells.length > 0)
    .map((cells) =>
      Object.fromEntries(
        cells.map((cell, i) => {
          const title = cell.querySelector('[title]')?.getAttribute('title') ?? ''
          return [heads[i] ?? '', { text: cell.textContent?.trim() ?? '', title }]
        }),
      ),
    )
}

const scales: Readonly<Record<string, number>> = { s: 1e3, min: 6e4, h: 3.6e6, k: 1e3, M: 1e6 }

/** `1.2 s` is 1200, `4 / 50k` is 4 and 50000. */
const figuresIn = (text: string): number[] =>
  [...text.matchAll(/(-?[\d,]*\.?\d+) ?([a-zA-Z]+)?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (scales[unit] ?? 1),
  )

/** As far as a page rounds: a duration to a tenth of a second, thousands to two digits. */
const isNear = (shown: number, value: number): boolean =>
  Math.abs(shown - value) <= Math.max(0.051, Math.abs(value) * 0.06)

/** A decimal text is money, which the title has exactly; numbers are figures of the text. */
type Expected<T> = readonly (readonly [
  title: string,
  of: (row: T) => string | number | null | undefined | readonly number[],
])[]

/** Row by row in this order, column by column: every figure is what the API says. */
export async function compareTable<T>(
  table: Locator,
  rows: readonly T[],
  columns: Expected<T>,
): Promise<void> {
  await table.getByRole('row').nth(rows.length).waitFor()
  const shown = await table.evaluate(readCells)
  expect(shown.length).toBeGreaterThanOrEqual(rows.length)
  for (const [i, row] of rows.entries()) {
    for (const [title, of] of columns) {
      compareCell(`${title} of row ${i}`, shown[i]![title], of(row))
    }
  }
}

function compareCell(
  where: string,
  cell: Cell | undefined,
  value: string | number | null | undefined | readonly number[],
): void {
  expect([where, cell !== undefined]).toEqual([where, true])
  const { text, title } = cell!
  if (value === null || value === undefined) {
    expect([where, figuresIn(text)]).toEqual([where, []])
  } else if (typeof value === 'string') {
    expect([where, title]).toEqual([where, `${value} CNY`])
    const shown = figuresIn(text).at(-1) ?? Number.NaN
    expect([where, text, isNear(shown, Number(value))]).toEqual([where, text, true])
  } else {
    const values = typeof value === 'number' ? [value] : value
    const shown = figuresIn(text)
    const good = values.every((each, i) => isNear(shown[i] ?? Number.NaN, each))
    expect([where, text, values, good]).toEqual([where, text, values, true])
  }
}
