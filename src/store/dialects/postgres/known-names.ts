// Names that have totals of their own, as far as this gateway has seen them stored: they never go, so that a
// batch asks the database only about names that are new to it.
import type pg from 'pg'
import { maxTotalNames } from '../../../contract/totals.ts'
import type { NamesAsked, NamesKnown } from '../../proof/total-names.ts'

/** Beyond it, all are asked for again. */
const maxKnown = 50_000

const ofScope = 'account_id = $1 AND month = $2 AND name = $3'
const knownStatement = `
  SELECT value FROM total_names WHERE ${ofScope} AND value = ANY($4::text[])
  UNION ALL
  SELECT CAST(count(*) AS text) FROM (
    SELECT 1 FROM total_names WHERE ${ofScope} LIMIT ${maxTotalNames}) AS names`

export class KnownNames {
  readonly #known = new Set<string>()

  /** Undefined: the database has to be asked. */
  answer({ account_id, month, name, values }: NamesAsked): NamesKnown | undefined {
    const isKnown = values.every((value) => this.#known.has(keyOf(account_id, month, name, value)))
    return isKnown ? { values, count: 0 } : undefined
  }

  async read(client: pg.PoolClient, asked: NamesAsked): Promise<NamesKnown> {
    const { account_id, month, name, values } = asked
    const { rows } = await client.query<{ value: string }>({
      name: 'hot-names',
      text: knownStatement,
      values: [account_id, month, name, values],
    })
    // The last row is the count.
    const found = rows.slice(0, -1).map(({ value }) => value)
    this.stored(found.map((value) => [account_id, month, name, value]))
    return { values: found, count: Number(rows.at(-1)!.value) }
  }

  /** They are committed. */
  stored(names: readonly (readonly string[])[]): void {
    if (this.#known.size > maxKnown) this.#known.clear()
    for (const name of names) this.#known.add(keyOf(...name))
  }
}

const keyOf = (...parts: readonly string[]): string => parts.join('\x1f')
