// Bugs on purpose that only show when clocks drift, databases freeze, gateways start cold or months end. Each of
// them was in a gateway once.
import { type Bug, knownWorld, one } from './bug.ts'

const beyondHolds = 'src/billing/beyond-holds.ts'
const creditLeases = 'src/billing/credit/credit-leases.ts'
const recordJournal = 'src/store/dialects/sqlite/journal/record-journal.ts'

export const outageBugs: readonly Bug[] = [
  {
    name: 'draw-for-one',
    why: 'a draw brings what one call needs, and all who waited for it are told that there is no more',
    known: knownWorld('draw-for-one'),
    edits: [
      {
        file: creditLeases,
        find: 'allot(all, waiters, isLast)',
        replace: 'allot(all, waiters.slice(0, 1), isLast)',
      },
      {
        file: creditLeases,
        find: '(isShort ? 0n : aheadWithin(freeNanos - nanos, aheadNanos))',
        replace: '(isShort ? 0n : aheadWithin(freeNanos - nanos, aheadNanos) * 0n)',
      },
      {
        file: creditLeases,
        find: 'short: drawn.isShort ? this.left(asking) : []',
        replace: 'short: this.left(asking)',
      },
    ],
  },
  one(
    'charge-cut-to-lease',
    'what a charge needs beyond its hold is taken from what this gateway happens to have',
    beyondHolds,
    'if (this.#creditLeases !== undefined) {',
    'if (this.#creditLeases === null) {',
  ),
  one(
    'short-again',
    'an account is served beyond its balance as often as it likes',
    'src/store/ledger/short-accounts.ts',
    'return numUpdatedRows === 1n',
    'return numUpdatedRows >= 0n',
  ),
  one(
    'own-clock',
    'a gateway goes by the clock of its own machine',
    'src/lib/clock.ts',
    'readonly nowMs = (): number => Math.floor(performance.now() + this.#offsetMs)',
    'readonly nowMs = (): number => Date.now()',
  ),
  {
    name: 'read-before-records',
    why: 'a balance is read again without the records that are in the journal only',
    known: knownWorld('read-before-records'),
    edits: [
      {
        file: recordJournal,
        find: 'return this.#isApplied ? undefined : this.#applyInTurn()',
        replace: 'return undefined',
      },
      {
        file: 'src/billing/balances.ts',
        find: 'const stored = await store.tx(async (tx) => {',
        replace: 'const tx = store.read\n    const stored = await (async () => {',
      },
      {
        file: 'src/billing/balances.ts',
        find: '      return { id, balanceNanos, heldNanos: 0n }\n    }, id)',
        replace: '      return { id, balanceNanos, heldNanos: 0n }\n    })()',
      },
    ],
  },
  one(
    'unapplied-is-forgotten',
    'records that could not be applied are taken out of the journal',
    recordJournal,
    'await this.#access.apply({ file, from, to }, number)',
    'await this.#access.apply({ file, from, to }, number).catch(() => {})',
  ),
  one(
    'applied-not-kept',
    'the database does not know which records of the journal it has',
    'src/store/dialects/sqlite/batch-writer.ts',
    'if (number !== undefined) this.#applied.run(String(number))',
    'void number',
  ),
]
