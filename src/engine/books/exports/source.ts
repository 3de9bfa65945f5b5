// The source of an export: pages of rows from a cursor on, and a row as table cells. The caller
// supplies the lists themselves.
import type { Refusal } from '../../../contract/errors.ts'
import type { Engine } from '../../engine.ts'

export const exportKinds = ['requests', 'tasks', 'ledger', 'bill_lines', 'audit_log'] as const
export type ExportKind = (typeof exportKinds)[number]

export const exportFormats = ['csv', 'jsonl'] as const
export type ExportFormat = (typeof exportFormats)[number]

export type ExportFilters = Readonly<Record<string, string>>

export interface ExportPage {
  rows: readonly object[]
  /** Where the next page goes on; absent after the last one. */
  next?: string | undefined
}

export interface ExportSource {
  columns: readonly string[]
  /** What a row says in each column. */
  cells(row: object): readonly unknown[]
  /** From where a page said it goes on; `rowsBefore` have been given out up to there. */
  pages(place: string | undefined, rowsBefore: number): AsyncGenerator<ExportPage>
  /** About how many rows there are; undefined where that would take long to find out. */
  total(): Promise<number | undefined>
}

/** A refusal says what is wrong with the filters. */
export type OpenSource = (
  engine: Engine,
  filters: ExportFilters,
  reader: ExportReader,
) => Promise<ExportSource | Refusal>

/** Members' files lack what only staff may read. */
export type ExportReader = 'staff' | 'member'

/** Only a member's job is bound to an account. */
export const readerOf = ({ accountId }: { accountId?: string | undefined }): ExportReader =>
  accountId === undefined ? 'staff' : 'member'

export type ExportSources = Readonly<Record<ExportKind, OpenSource>>

export const isExportKind = (text: string): text is ExportKind =>
  exportKinds.some((kind) => kind === text)
