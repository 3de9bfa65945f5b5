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
  'no-compare-and-set': 4,
  'poll-without-fence': 370,
  'double-charge': 155,
  'create-resent': 4,
  'unknown-is-refused': 2,
  'hold-not-reserved': 2,
  'balance-read-outside': 30,
  'failed-write-trusted': 25,
  'lease-spent-while-returned': 165,
  'price-not-frozen': 2,
  'cancelled-is-charged': 2,
  'key-outside-transaction': 28,
  'callback-outside-transaction': 15,
  'images-charged-as-requested': 20,
  'unknown-frees-key': 60,
  'call-hold-leaks': 4,
  'burial-keeps-credit': 3,
  'draw-for-one': 8,
  'charge-cut-to-lease': 20,
  'short-again': 12,
  'void-in-memory': 105,
  'own-clock': 40,
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
