// A bug on purpose: some words of the sources, what replaces them, and a world that shows it.

interface Edit {
  file: string
  find: string
  replace: string
}

interface KnownWorld {
  seed: number
  /** Drawn by the seed by default. */
  gateways?: 1 | 3
}

export interface Bug {
  name: string
  /** What is wrong with it. */
  why: string
  /** One of the worlds in which it has been found: there the search begins. */
  known: KnownWorld
  edits: readonly Edit[]
}

/** Where it is not the first. A change of the sources may move them; `--bugs` says where each is found. */
const knownWorlds: Readonly<Record<string, number | KnownWorld>> = {
  'no-compare-and-set': 19,
  'poll-without-fence': 98,
  'double-charge': 216,
  'create-resent': 13,
  'unknown-is-refused': 2,
  'hold-after-send': 2,
  'answer-before-durable': 2,
  'hold-not-reserved': 14,
  'balance-read-outside': 1044,
  'failed-write-trusted': 51,
  'lease-spent-while-returned': 96,
  'price-not-frozen': 2,
  'cancelled-is-charged': 5,
  'key-outside-transaction': 66,
  'callback-outside-transaction': 153,
  'images-charged-as-requested': 20,
  'unknown-frees-key': 187,
  'call-hold-leaks': 4,
  'burial-keeps-credit': 3,
  'draw-for-one': 16,
  'charge-cut-to-lease': 27,
  'short-again': 25,
  'own-clock': 46,
  'read-before-records': 182,
  'unapplied-is-forgotten': { seed: 84, gateways: 1 },
  'applied-not-kept': 2,
}

export function knownWorld(name: string): KnownWorld {
  const known = knownWorlds[name] ?? 1
  return typeof known === 'number' ? { seed: known } : known
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
  known: knownWorld(name),
  edits: [{ file, find, replace }],
})
