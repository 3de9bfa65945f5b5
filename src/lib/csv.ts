// One row of a table as spreadsheets read it. A text that would be taken for a formula is marked as
// text; numbers stay numbers.

const isFormula = /^[=+\-@\t\r]/
const isNumber = /^-?\d+(?:\.\d+)?$/
const needsQuotes = /[",\r\n]/

export const csvRow = (cells: readonly unknown[]): string => `${cells.map(cell).join(',')}\r\n`

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const plain = String(value)
  const text = isFormula.test(plain) && !isNumber.test(plain) ? `'${plain}` : plain
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
