// A bug on purpose: some words of the sources, what replaces them, and a seed that finds it.

interface Edit {
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
  'no-compare-and-set': 6,
  'poll-without-fence': 85,
  'double-charge': 171,
  'create-resent': 7,
  'unknown-is-refused': 2,
  'hold-after-send': 2,
  'answer-before-durable': 2,
  'hold-not-reserved': 12,
  'balance-read-outside': 1004,
  'failed-write-trusted': 47,
  'lease-spent-while-returned': 96,
  'price-not-frozen': 2,
  'cancelled-is-charged': 2,
  'key-outside-transaction': 55,
  'callback-outside-transaction': 126,
  'images-charged-as-requested': 20,
  'unknown-frees-key': 183,
  'call-hold-leaks': 4,
  'burial-keeps-credit': 3,
  'draw-for-one': 11,
  'charge-cut-to-lease': 27,
  'short-again': 17,
  'own-clock': 46,
  'read-before-records': 103,
  'unapplied-is-forgotten': 341,
  'applied-not-kept': 2,
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
