// What a mistake made on purpose is: a few words of the sources, what stands there instead, and a seed by
// which it has been found.

export interface Edit {
  file: string
  find: string
  replace: string
}

export interface Bug {
  name: string
  /** What is wrong with it. */
  why: string
  /** One of the seeds by which it has been found. */
  knownSeed: number
  edits: readonly Edit[]
}

/** Where it is not the first. */
export const knownSeeds: Readonly<Record<string, number>> = {
  'no-compare-and-set': 2,
  'look-without-fence': 65,
  'double-charge': 59,
  'create-resent': 4,
  'unknown-is-refused': 2,
  'hold-not-reserved': 2,
  'balance-read-outside': 149,
  'failed-write-trusted': 7,
  'purse-spent-while-returned': 65,
  'price-not-frozen': 2,
  'cancelled-is-charged': 2,
  'key-outside-transaction': 28,
  'callback-outside-transaction': 44,
  'late-answer-revives': 55,
  'pictures-charged-as-asked': 20,
  'unknown-frees-key': 5,
  'call-hold-leaks': 4,
  'burial-keeps-credit': 3,
}

export const one = (
  name: string,
  why: string,
  file: string,
  find: string,
  replace: string,
): Bug => ({
  name,
  why,
  knownSeed: knownSeeds[name] ?? 1,
  edits: [{ file, find, replace }],
})
