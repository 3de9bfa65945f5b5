// gateway price export, import and preview: prices in bulk, as files. The files go to the gateway as
// they are; what they mean is its to judge.
import { importedPrice, previewRow } from '../../admin/catalog/price-schema.ts'
import { convertFile, sourceFlags } from '../price-sources/command.ts'
import { askCommand } from '../terminal/ask.ts'
import { columnsOf } from '../terminal/columns.ts'
import type { Command } from '../terminal/command.ts'
import type { Line } from '../terminal/line.ts'
import { saveFile } from '../terminal/save-file.ts'
import { cell, type Row, rowOf, rowsOf, table } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'
import { readText } from './prices.ts'

const formatFlag = {
  format: { value: 'yaml|csv', summary: 'unless the name of the file tells it' },
}

/** prices.csv -> csv; what says nothing is YAML, which JSON is too. */
function formatOf(line: Line): 'yaml' | 'csv' {
  const said = line.text('format') ?? (/\.csv$/i.test(line.arg(0)) ? 'csv' : 'yaml')
  if (said !== 'yaml' && said !== 'csv') throw misuse('--format takes yaml or csv')
  return said
}

const importColumns = columnsOf(importedPrice).filter(({ title }) => title !== 'terms')

function importText({ added, unchanged, superseded, models_added, items, dry_run }: Row): string {
  const models = models_added === 0 ? '' : `, ${cell(models_added)} models added`
  const counts = `${cell(added)} added, ${cell(unchanged)} unchanged, ${cell(superseded)} superseded${models}`
  const changed = rowsOf(items).filter(({ outcome }) => outcome !== 'unchanged')
  const lines = [dry_run === true ? `${counts}; nothing was changed` : counts]
  if (changed.length > 0) lines.push('', table(changed, importColumns))
  return lines.join('\n')
}

const previewColumns = [...columnsOf(previewRow), { title: 'note', value: noteOf }]

function previewText({ currency, from, to, total, items, omitted_count }: Row): string {
  const rows: Row[] = [...rowsOf(items), { account: 'total', ...rowOf(total) }]
  const money = rows.map((row) => ({ ...row, currency }))
  const lines = [`${cell(from)} to ${cell(to)}`, '', table(money, previewColumns)]
  if (typeof omitted_count === 'number' && omitted_count > 0)
    lines.push('', `and ${omitted_count} more rows`)
  return lines.join('\n')
}

function noteOf(row: Row): string {
  if (row['not_comparable'] !== undefined) return cell(row['not_comparable'])
  return row['exact'] === false ? `${cell(row['at_least'])} to ${cell(row['at_most'])}` : ''
}

const importCommand = askCommand({
  path: ['price', 'import'],
  args: ['FILE'],
  summary: '',
  flags: { 'dry-run': { summary: 'only tell what would be added' }, ...formatFlag },
  call: 'POST /prices/import',
  body: ({ line }) => ({
    format: formatOf(line),
    text: readText(line.arg(0)),
    dry_run: line.on('dry-run'),
  }),
  text: importText,
})

export const priceListCommands: readonly Command[] = [
  {
    path: ['price', 'export'],
    args: ['FILE'],
    summary: 'every price that is in force or will be, into a file',
    flags: formatFlag,
    async run({ line, admin }) {
      const format = formatOf(line)
      const response = await admin.open('GET', '/prices/export', { query: { format } })
      return saveFile(response, line.arg(0), 'the list')
    },
  },
  {
    ...importCommand,
    summary: 'add the prices of a file that are new, all or none; --from prints a list instead',
    flags: { ...importCommand.flags, ...sourceFlags },
    async run(context) {
      if (context.line.text('from') !== undefined) return convertFile(context.line)
      const stray = Object.keys(sourceFlags).find((flag) => context.line.text(flag) !== undefined)
      if (stray !== undefined) throw misuse(`--${stray} goes with --from`)
      return importCommand.run(context)
    },
  },
  askCommand({
    path: ['price', 'preview'],
    args: ['FILE'],
    summary: 'what the prices of a file would have charged over a past period',
    flags: {
      month: { value: 'YYYY-MM', summary: 'over this month, by UTC' },
      from: { value: 'TIME', summary: 'or from this full hour' },
      to: { value: 'TIME', summary: 'until before this full hour' },
      account: { value: 'ACCOUNT', summary: 'of this account only' },
      ...formatFlag,
    },
    call: 'POST /prices/preview',
    body: ({ line }) => ({
      format: formatOf(line),
      text: readText(line.arg(0)),
      month: line.text('month'),
      from: line.time('from'),
      to: line.time('to'),
      account: line.text('account'),
    }),
    text: previewText,
  }),
]
