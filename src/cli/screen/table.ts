// Rows as a table that fits the screen: where it is too narrow, texts are shortened, and where that is not
// enough, each row becomes a block of lines. Into a file or a pipe everything goes whole. Knows no field.
import { paint, type Screen, toneOf } from './screen.ts'

export interface Heading {
  title: string
  right?: true
}

const gap = '  '
/** A text is not shortened below this. */
const minText = 12
const cutMark = '…'
const timePattern = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/
/** To be copied, so never shortened: ids, amounts and counts. */
const wholePattern = /^(?:[a-z]{2,8}_[0-9a-z]{8,}|-?[\d.]+(?: [A-Z]{3})?|-)$/
/** Columns whose values have a colour of their own. */
const stateTitles = ['state', 'status', 'health', 'outcome']

const widthOf = (text: string): number => Bun.stringWidth(text)

export function layTable(
  headings: readonly Heading[],
  rows: readonly (readonly string[])[],
  screen: Screen,
): string {
  const fits = (cells: readonly (readonly string[])[]) =>
    screen.width === undefined || totalOf(widthsOf(headings, cells)) <= screen.width
  if (fits(rows)) return lines(headings, rows, screen)
  const shorter = shortened(headings, rows, screen.width!)
  return fits(shorter) ? lines(headings, shorter, screen) : blocks(headings, rows, screen)
}

const widthsOf = (headings: readonly Heading[], rows: readonly (readonly string[])[]) =>
  headings.map(({ title }, i) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i]!))))

const totalOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1)

function lines(
  headings: readonly Heading[],
  rows: readonly (readonly string[])[],
  screen: Screen,
): string {
  const widths = widthsOf(headings, rows)
  const render = (parts: readonly string[], painted: readonly string[]) =>
    parts
      .map((part, i) => {
        const space = ' '.repeat(widths[i]! - widthOf(part))
        return headings[i]!.right ? space + painted[i] : painted[i] + space
      })
      .join(gap)
      .trimEnd()
  const titles = headings.map(({ title }) => title.toUpperCase())
  const head = render(
    titles,
    titles.map((title) => paint(title, 'bold', screen)),
  )
  const body = rows.map((row) =>
    render(
      row,
      row.map((value, i) => painted(headings[i]!, value, screen)),
    ),
  )
  return [head, ...body].join('\n')
}

const painted = ({ title }: Heading, value: string, screen: Screen): string =>
  paint(value, stateTitles.includes(title) ? toneOf(value) : undefined, screen)

/** Times without fractions, and of the texts always the longest a little shorter. */
function shortened(
  headings: readonly Heading[],
  rows: readonly (readonly string[])[],
  width: number,
): string[][] {
  const cells = rows.map((row) => row.map((value) => value.replace(timePattern, '$1 $2')))
  const widths = widthsOf(headings, cells)
  const mayShrink = headings.map((_, i) => cells.some((row) => isText(row[i]!)))
  const floor = headings.map(({ title }) => Math.max(minText, widthOf(title)))
  for (;;) {
    const wide = widths.map((own, i) => (mayShrink[i] && own > floor[i]! ? own : 0))
    const widest = wide.indexOf(Math.max(...wide))
    if (totalOf(widths) <= width || wide[widest] === 0) break
    widths[widest]!--
  }
  return cells.map((row) => row.map((value, i) => (isText(value) ? cut(value, widths[i]!) : value)))
}

const isText = (value: string): boolean =>
  !wholePattern.test(value) && !/^\d{4}-\d\d-\d\d /.test(value)

/** By what it takes on the screen: an ideograph takes two places. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const letter of text) {
    if (widthOf(kept + letter) > width - 1) break
    kept += letter
  }
  return kept + cutMark
}

function blocks(
  headings: readonly Heading[],
  rows: readonly (readonly string[])[],
  screen: Screen,
): string {
  const width = Math.max(...headings.map(({ title }) => widthOf(title)))
  const blockOf = (row: readonly string[]) =>
    headings
      .map((heading, i) => ({ heading, value: row[i]! }))
      .filter(({ value }) => value !== '-' && value !== '')
      .map(({ heading, value }) => {
        const space = ' '.repeat(width - widthOf(heading.title))
        return `${paint(heading.title, 'dim', screen)}${space}${gap}${painted(heading, value, screen)}`
      })
      .join('\n')
  return rows.map(blockOf).join('\n\n')
}
