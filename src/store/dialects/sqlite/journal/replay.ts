// At the start: what the journal holds and the database does not is applied; then the journal begins
// anew. Also finds out whether batches are missing.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { disk } from '../../../../lib/disk.ts'
import { callColumns, cell } from '../../../rows/call-row.ts'
import { setMeta } from '../../../sql/meta.ts'
import type { Log, Store } from '../../../store.ts'
import { cellsOf, lossColumns, rowOf } from '../../group-commit-rows.ts'
import { appliedKey } from '../batch-writer.ts'
import { checkJournalMark, idKey, type MarkPlace, sealKey } from '../high-water-mark.ts'
import type { JournalBatch, ReadTexts, RowTexts } from './batch-format.ts'
import { type Columns, JournalFiles, readJournal } from './journal-files.ts'

/** In the meta table: binds a journal to its database. */
const databaseIdKey = 'journal_id'
/** The mark of the journal has been made. */
const markedKey = 'journal_marked'

const columns: Columns = { requests: callColumns, losses: lossColumns }

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
  const state = await readState(tx)
  const found = [...readJournal(dataDir)]
  const batches = pendingIn(found, state)
  const number = batches.at(-1)?.number ?? state.applied
  if (mark !== undefined && existsSync(mark.besides)) {
    const isThere = found.every((each) => each !== undefined && !isForeign(each, state))
    const isWhole = number - state.applied === batches.length
    checkJournalMark(mark, { ...state, isThere, number: isWhole ? number : undefined })
  }
  putAside(replay, found, state)
  for (const batch of batches) await replay.apply(batch)
  if (batches.length > 0) replay.log('info', `${batches.length} batches of the journal applied`)
  const databaseId = state.databaseId ?? randomBytes(16).toString('hex')
  const files = new JournalFiles(dataDir, databaseId, columns)
  try {
    // Not before: a database that names a journal has had one.
    if (state.databaseId === undefined) await tx((db) => setMeta(db, databaseIdKey, databaseId))
  } catch (error) {
    files.close()
    throw error
  }
  return { files, number }
}

/** To be called when the mark of the journal is durable: from here on, it and the journal are missed. */
export const noteJournalMark = (tx: Store['tx']): Promise<void> =>
  tx((db) => setMeta(db, markedKey, '1'))

type State = Awaited<ReturnType<typeof readState>>
type Found = ReturnType<typeof readJournal> extends Generator<infer One> ? One : never

const readState = (tx: Store['tx']) =>
  tx(async (db) => {
    const keys = [databaseIdKey, markedKey, appliedKey, idKey, sealKey]
    const rows = await db.selectFrom('meta').selectAll().where('key', 'in', keys).execute()
    const values = new Map(rows.map(({ key, value }) => [key, value]))
    const databaseId = values.get(databaseIdKey)
    const applied = Number(values.get(appliedKey) ?? '0')
    return {
      databaseId,
      applied,
      id: values.get(idKey),
      seal: values.get(sealKey),
      // Version 0.3 did not note it, and wrote no batch before the mark.
      isMarked: values.has(markedKey) || (databaseId !== undefined && applied > 0),
    }
  })

const isForeign = (found: Found, { databaseId }: State): boolean =>
  typeof found === 'object' && found.databaseId !== databaseId

/** Batches that the database does not have, in order. */
function pendingIn(found: readonly Found[], state: State): JournalBatch[] {
  const pending: JournalBatch[] = []
  for (const written of found) {
    if (typeof written !== 'object' || isForeign(written, state)) continue
    const missing = written.batches.filter(({ number }) => number > state.applied)
    for (const batch of missing) pending.push(inColumns(batch, written.columns))
  }
  return pending.sort((a, b) => a.number - b.number)
}

/** The journal of another database is kept under another name. */
function putAside({ log }: Replay, found: readonly Found[], state: State): void {
  for (const written of found) {
    if (typeof written !== 'object' || written.batches.length === 0) continue
    if (!isForeign(written, state)) continue
    const kept = `${written.file}.${written.databaseId}`
    disk.rename(written.file, kept)
    log('warn', `${kept} belongs to another database; its records are not applied`)
  }
}

/** In the columns of this version: by name, absent ones empty. */
function inColumns(batch: JournalBatch & ReadTexts, from: Columns): JournalBatch {
  const convert = (table: keyof RowTexts): string => {
    const places = columns[table].map((name) => from[table].indexOf(name))
    const isSame = places.every((place, i) => place === i) && places.length === from[table].length
    if (isSame) return batch[table]
    return rowsOf(batch[table], from[table])
      .map((row) => rowOf(places.map((place) => (place === -1 ? '' : row[place]!))))
      .join('')
  }
  const { number } = batch
  const requests = withCharges(convert('requests'), batch.entries, from.entries ?? [])
  return { number, requests, losses: convert('losses') }
}

/** Version 0.3 wrote the charge of a call as an entry beside its row. */
function withCharges(requests: string, entries: string, columnsOfEntry: readonly string[]): string {
  if (entries === '') return requests
  const refAt = columnsOfEntry.indexOf('ref')
  const charges = new Map(rowsOf(entries, columnsOfEntry).map((row) => [row[refAt], row]))
  const rows = rowsOf(requests, callColumns).map((row) => {
    const charge = charges.get(row[cell.request_id])
    if (charge === undefined) return row
    return callColumns.map((name, i) => {
      if (i < cell.booked_at_ms) return row[i]!
      return charge[columnsOfEntry.indexOf(name === 'booked_at_ms' ? 'at_ms' : name)] ?? ''
    })
  })
  return rows.map(rowOf).join('')
}

function rowsOf(text: string, columnsOfRow: readonly string[]): string[][] {
  const cells = cellsOf(text)
  const rows: string[][] = []
  for (let at = 0; at < cells.length; at += columnsOfRow.length) {
    rows.push(cells.slice(at, at + columnsOfRow.length))
  }
  return rows
}
