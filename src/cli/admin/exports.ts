// gateway export: a whole list as a file. It is written in the gateway, in the background; this waits
// for it and saves it.

import { exportJob, exportKinds, exportQuery } from '../../admin/system/system-schema.ts'
import { monthBounds } from '../../lib/text/month.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Context, Flags, Outcome } from '../terminal/command.ts'
import type { Line } from '../terminal/line.ts'
import { listCommand, segment } from '../terminal/list.ts'
import { saveFile } from '../terminal/save-file.ts'
import { cell, type Row, rowOf } from '../terminal/show.ts'
import { exitCodes, misuse, Stop } from '../terminal/stop.ts'
import { openProgress } from './tasks.ts'

const pollEveryMs = 500
/** Six hours of waiting. */
const maxPolls = 43_200

/** Each list under the name a person types. */
const kinds: Readonly<Record<string, string>> = Object.fromEntries(
  exportKinds.map((kind) => [kind.replace('_', '-'), kind]),
)

const filterFlags: Flags = {
  account: { value: 'ID|NAME', summary: 'of this account; ledger and bill-lines need one' },
  month: { value: 'YYYY-MM', summary: 'of this month, by UTC: requests and bill-lines' },
  token: { value: 'ID', summary: 'made with this token (its id, not its secret)' },
  model: { value: 'MODEL', summary: 'for this model' },
  channel: { value: 'NAME', summary: 'through this channel' },
  interface: { value: 'NAME', summary: 'of this interface: tasks' },
  state: { value: 'STATE', summary: 'in this state: tasks' },
  status: { value: 'N', summary: 'answered with this HTTP status' },
  'error-code': { value: 'CODE', summary: 'such as model_not_found' },
  from: { value: 'TIME', summary: 'at or after, such as 2026-11-01T00:00:00Z' },
  to: { value: 'TIME', summary: 'before' },
}

/** A month is a time like any other, except to a bill. */
function filtersOf(kind: string, line: Line): Record<string, string> {
  const month = line.text('month')
  const times = { from: line.time('from'), to: line.time('to') }
  const span = month === undefined || kind === 'bill_lines' ? { month, ...times } : spanOf(month)
  const named = ['account', 'token', 'model', 'channel', 'interface', 'state', 'status']
  const given = Object.fromEntries(named.map((name) => [name, line.text(name)]))
  const all = { ...given, error_code: line.text('error-code'), ...span }
  return Object.fromEntries(
    Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
}

function spanOf(month: string): { from: string; to: string } {
  const bounds = monthBounds(month)
  if (bounds === undefined) throw misuse(`--month takes a month such as 2026-11, not '${month}'`)
  const at = (ms: number) => new Date(ms).toISOString()
  return { from: at(bounds.fromMs), to: at(bounds.untilMs) }
}

/** file.jsonl -> jsonl; what says nothing is a table. */
function formatOf(line: Line): string {
  const said = line.text('format') ?? (/\.jsonl$/i.test(line.text('out') ?? '') ? 'jsonl' : 'csv')
  if (said !== 'csv' && said !== 'jsonl') throw misuse('--format takes csv or jsonl')
  return said
}

async function runExport(context: Context): Promise<Outcome> {
  const { line, admin } = context
  const kind = Object.hasOwn(kinds, line.arg(0)) ? kinds[line.arg(0)] : undefined
  if (kind === undefined) throw misuse(`export takes one of ${Object.keys(kinds).join(', ')}`)
  const out = line.text('out')!
  const body = { kind, format: formatOf(line), filters: filtersOf(kind, line) }
  const begun = rowOf(await admin.ask('POST', '/exports', { body }))
  const path = `/exports/${segment(String(begun['id']))}`
  const job = await waitForEnd(context, path, begun)
  if (job['state'] !== 'done') {
    throw new Stop(exitCodes.refused, `the export failed: ${cell(job['error'])}`)
  }
  const response = await admin.open('GET', `${path}/file`)
  const bytes = await saveFile(response, out, 'the file')
  // It is here now, so the gateway need not keep it.
  if (!line.on('keep')) await admin.ask('DELETE', path)
  const text = `${cell(out)}: ${cell(job['rows'])} rows, ${bytes} bytes`
  const isCut = job['limit_reached'] === true
  return {
    answer: { ...job, file: out, bytes },
    text: isCut ? `${text}; there were more than a file may hold` : text,
    ok: !isCut,
  }
}

async function waitForEnd(context: Context, path: string, begun: Row): Promise<Row> {
  const progress = openProgress(context)
  const fromMs = performance.now()
  let job = begun
  try {
    for (let polls = 0; polls < maxPolls; polls++) {
      const state = String(job['state'])
      progress.show({ state, progress: shareOf(job), elapsedMs: performance.now() - fromMs })
      if (state === 'done' || state === 'failed') return job
      await Bun.sleep(pollEveryMs)
      job = rowOf(await context.admin.ask('GET', path))
    }
  } finally {
    progress.end()
  }
  throw new Stop(exitCodes.refused, 'the export is not done after six hours; see export list')
}

/** In percent, where it is known how many rows there are. */
function shareOf({ rows, rows_total: total }: Row): number | undefined {
  if (typeof rows !== 'number' || typeof total !== 'number' || total === 0) return undefined
  return Math.min(100, Math.round((rows / total) * 100))
}

export const exportCommands: readonly Command[] = [
  {
    path: ['export'],
    args: ['LIST'],
    summary: `a whole list into a file: ${Object.keys(kinds).join(', ')}`,
    flags: {
      out: { value: 'FILE', summary: 'where to save it', required: true },
      format: { value: 'csv|jsonl', summary: 'unless the name of the file tells it' },
      keep: { summary: 'leave it in the gateway too, for a day' },
      ...filterFlags,
    },
    run: runExport,
  },
  listCommand(
    { path: ['export', 'list'], summary: 'exports of the last day, newest first' },
    { path: '/exports', what: 'exports', item: exportJob, query: exportQuery },
  ),
  askCommand({
    path: ['export', 'delete'],
    args: ['ID'],
    summary: 'stop an export, or delete its file',
    call: 'DELETE /exports/:id',
    text: ({ id }) => `${cell(id)}  deleted`,
  }),
]
