// Rows that are on the page, as a table for spreadsheets; made here. Whole lists are exported by the
// gateway.
import { downloadText } from '../download.ts'
import type { UsageRow } from './usage.ts'

function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value)
  // What a spreadsheet would take for a formula is marked as text; numbers stay numbers.
  const isFormula = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Amounts as they came, to the billionth. */
export function saveCsv(rows: readonly UsageRow[], file = 'usage.csv'): void {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = rows.map((row) => names.map((name) => cell(row[name as keyof UsageRow])).join(','))
  const text = `\uFEFF${[names.join(','), ...lines].join('\r\n')}\r\n`
  downloadText(file, text, 'text/csv')
}
