// Lays out rows as aligned text and writes numbers for a reader. Refuses to know what they mean.

/** First row is the heading. Columns named in `left` align left, the others right. */
export function formatTable(rows: readonly string[][], left: readonly number[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: string[]) =>
    widths
      .map((width, column) => {
        const text = row[column] ?? ''
        return left.includes(column) ? text.padEnd(width) : text.padStart(width)
      })
      .join('  ')
      .trimEnd()
  const [heading, ...body] = rows
  if (heading === undefined) return ''
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [line(heading), rule, ...body.map(line)].join('\n')
}

/** Three digits that count, no more: 5.123 -> '5.12', 51.23 -> '51.2', 5123.4 -> '5,123'. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const size = Math.abs(value)
  const decimals = size < 10 ? 2 : size < 100 ? 1 : 0
  const [whole, fraction] = value.toFixed(decimals).split('.')
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

export function formatRatio(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(2)}x` : '-'
}

export function formatMegabytes(bytes: number): string {
  return formatNumber(bytes / 1_000_000)
}
