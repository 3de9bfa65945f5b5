// At the start: what the journal holds and the database does not is applied; then the journal begins
// anew. Also finds out whether batches are missing.
import { randomBytes } from 'node:crypto'
import { existsSync, renameSync } from 'node:fs'
import { putMetaIfAbsent } from '../../../sql/meta.ts'
import type { Log, Store } from '../../../store.ts'
import { entryColumns, lossColumns, requestColumns } from '../../group-commit.ts'
import { cellsOf, rowOf } from '../../group-commit-rows.ts'
import { appliedKey } from '../batch-writer.ts'
import { checkJournalMark, idKey, type MarkPlace, sealKey } from '../high-water-mark.ts'
import type { JournalBatch, RowTexts } from './batch-format.ts'
import { type Columns, JournalFiles, readJournal } from './journal-files.ts'

/** In the meta table: binds a journal to its database. */
const databaseIdKey = 'journal_id'

const columns: Columns = { requests: requestColumns, entries: entryColumns, losses: lossColumns }

interface Replay {
  dataDir: string
  tx: Store['tx']
  apply(batch: JournalBatch): Promise<unknown>
  /** The mark of the journal, and the file whose absence says that loss is accepted. */
  mark: (MarkPlace & { besides: string }) | undefined
  log: Log
}

export interface OpenedJournal {
  files: JournalFiles
  /** The last batch, which the database has. */
  number: number
}

export async function openJournal(replay: Replay): Promise<OpenedJournal> {
  const { dataDir, mark, tx } = replay
  const { databaseId, applied, ...sealed } = await readState(tx)
  const batches = pendingIn(replay, databaseId, applied)
  const number = batches.at(-1)?.number ?? applied
  const isWhole = number - applied === batches.length
  if (mark !== undefined && existsSync(mark.besides)) {
    checkJournalMark(mark, { ...sealed, number: isWhole ? number : -1 })
  }
  for (const batch of batches) await replay.apply(batch)
  if (batches.length > 0) replay.log('info', `${batches.length} batches of the journal applied`)
  return { files: new JournalFiles(dataDir, databaseId, columns), number }
}

const readState = (tx: Store['tx']) =>
  tx(async (db) => {
    const databaseId = await putMetaIfAbsent(db, databaseIdKey, randomBytes(16).toString('hex'))
    const keys = [appliedKey, idKey, sealKey]
    const rows = await db.selectFrom('meta').selectAll().where('key', 'in', keys).execute()
    const values = new Map(rows.map(({ key, value }) => [key, value]))
    const applied = Number(values.get(appliedKey) ?? '0')
    return { databaseId, applied, id: values.get(idKey), seal: values.get(sealKey) }
  })

/** Batches that the database does not have, in order. */
function pendingIn({ dataDir, log }: Replay, databaseId: string, applied: number): JournalBatch[] {
  const pending: JournalBatch[] = []
  for (const written of readJournal(dataDir)) {
    if (written.batches.length === 0) continue
    if (written.databaseId !== databaseId) {
      const kept = `${written.file}.${written.databaseId}`
      renameSync(written.file, kept)
      log('warn', `${kept} belongs to another database; its records are not applied`)
      continue
    }
    const missing = written.batches.filter(({ number }) => number > applied)
    for (const batch of missing) pending.push(inColumns(batch, written.columns))
  }
  return pending.sort((a, b) => a.number - b.number)
}

/** In the columns of this version: by name, absent ones empty. */
function inColumns(batch: JournalBatch, from: Columns): JournalBatch {
  const convert = (table: keyof RowTexts): string => {
    const places = columns[table].map((name) => from[table].indexOf(name))
    const isSame = places.every((place, i) => place === i) && places.length === from[table].length
    if (isSame) return batch[table]
    const cells = cellsOf(batch[table])
    const rows: string[] = []
    for (let at = 0; at < cells.length; at += from[table].length) {
      rows.push(rowOf(places.map((place) => (place === -1 ? '' : cells[at + place]!))))
    }
    return rows.join('')
  }
  const { number } = batch
  return {
    number,
    requests: convert('requests'),
    entries: convert('entries'),
    losses: convert('losses'),
  }
}
