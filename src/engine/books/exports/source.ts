// The source of an export: pages of rows from a cursor on, and a row as table cells. The caller
// supplies the lists themselves.
import type { Refusal } from '../../../contract/errors.ts'

const exportKinds = ['requests', 'tasks', 'ledger', 'bill_lines', 'audit_log'] as const
export type ExportKind = (typeof exportKinds)[number]

export type ExportFilters = Readonly<Record<string, string>>

export interface ExportPage {
  rows: readonly object[]
  /** Cursor of the next page; absent after the last one. */
  next?: string | undefined
}

export interface ExportSource {
  columns: readonly string[]
  /** The cells of a row. */
  cells(row: object): readonly unknown[]
  /** Starts at a cursor of a page; `rowsBefore` rows came before it. */
  pages(place: string | undefined, rowsBefore: number): AsyncGenerator<ExportPage>
  /** Estimated number of rows; undefined where counting would take long. */
  total(): Promise<number | undefined>
}

/** A refusal says what is wrong with the filters. */
type OpenSource = (filters: ExportFilters, reader: ExportReader) => Promise<ExportSource | Refusal>

/** Members' files omit columns that only staff may read. */
export type ExportReader = 'staff' | 'member'

/** Only a member's job is bound to an account. */
export const readerOf = ({ accountId }: { accountId?: string | undefined }): ExportReader =>
  accountId === undefined ? 'staff' : 'member'

export type ExportSources = Readonly<Record<ExportKind, OpenSource>>

export const isExportKind = (text: string): text is ExportKind =>
  exportKinds.some((kind) => kind === text)
