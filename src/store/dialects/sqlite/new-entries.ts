// Entries that a batch has added, in the form in which the receipt pass would read them back: the
// cells of the batch have all of it but the id. Reads nothing.
import type { EntryKind } from '../../../contract/ledger.ts'
import type { PendingRow } from '../../proof/pending-row.ts'
import { entryColumns, requestColumns } from '../group-commit.ts'

type EntryColumn = (typeof entryColumns)[number]
type RequestColumn = (typeof requestColumns)[number]

const indexesOf = <Column extends string>(columns: readonly Column[]) =>
  Object.fromEntries(columns.map((column, i) => [column, i])) as Record<Column, number>
const inEntry: Readonly<Record<EntryColumn, number>> = indexesOf(entryColumns)
const inRequest: Readonly<Record<RequestColumn, number>> = indexesOf(requestColumns)

export class NewEntries {
  /** Those that moved a balance, in order of id. */
  readonly rows: PendingRow[] = []
  /** False when some of them cannot be told from the batch alone. */
  isComplete = true
  #begun = false
  #requests: readonly string[] = []
  #request = 0

  /** The entries that follow are of these requests, in the same order. True for the first ones. */
  begin(requests: readonly string[]): boolean {
    this.#requests = requests
    this.#request = 0
    const isFirst = !this.#begun
    this.#begun = true
    return isFirst
  }

  add(id: number, cells: readonly string[], at: number): void {
    const kind = cells[at + inEntry.kind] as EntryKind
    if (!this.isComplete || kind === 'hold' || kind === 'release') return
    const ref = cells[at + inEntry.ref]!
    const request = kind === 'charge' ? this.#findRequest(ref) : undefined
    if (kind === 'charge' && request === undefined) this.isComplete = false
    else this.rows.push(this.#rowOf(id, kind, { cells, at }, request))
  }

  #rowOf(
    id: number,
    kind: EntryKind,
    { cells, at }: { cells: readonly string[]; at: number },
    request: number | undefined,
  ): PendingRow {
    const textOf = (column: EntryColumn) => cells[at + inEntry[column]]!
    const orNull = (text: string) => (text === '' ? null : text)
    const quantity = textOf('quantity')
    const tokenId = orNull(textOf('token_id'))
    return {
      id,
      at_ms: Number(textOf('at_ms')),
      account_id: textOf('account_id'),
      kind,
      amount_nanos: BigInt(textOf('amount_nanos')),
      ref: textOf('ref'),
      model: orNull(textOf('model')),
      unit: orNull(textOf('unit')),
      quantity: quantity === '' ? null : Number(quantity),
      price_id: orNull(textOf('price_id')),
      estimated: Number(textOf('estimated')),
      note: orNull(textOf('note')),
      token_id: tokenId,
      tier: orNull(textOf('tier')),
      tags: orNull(textOf('tags')),
      served_model: orNull(textOf('served_model')),
      spent_with: tokenId ?? this.#ofRequest(request, 'token_id'),
      input_tokens: Number(this.#ofRequest(request, 'input_tokens')),
      output_tokens: Number(this.#ofRequest(request, 'output_tokens')),
      cache_read_tokens: Number(this.#ofRequest(request, 'cache_read_tokens')),
      cache_write_tokens: Number(this.#ofRequest(request, 'cache_write_tokens')),
    }
  }

  #findRequest(id: string): number | undefined {
    const width = requestColumns.length
    for (let at = this.#request; at < this.#requests.length; at += width) {
      if (this.#requests[at] !== id) continue
      this.#request = at + width
      return at
    }
    return undefined
  }

  #ofRequest(request: number | undefined, column: RequestColumn): string {
    return request === undefined ? '' : this.#requests[request + inRequest[column]]!
  }
}
