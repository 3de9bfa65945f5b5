// A bug on purpose: some words of the sources, what replaces them, and a world that shows it.

interface Edit {
  file: string
  find: string
  replace: string
}

interface KnownWorld {
  /** Each has shown it once. */
  seeds: readonly number[]
  /** Drawn by the seed by default. */
  gateways?: 1 | 3
  /** As the command line takes them; none by default. */
  parts?: string
}

export interface Bug {
  name: string
  /** What is wrong with it. */
  why: string
  /** Worlds in which it has been found: they are tried first. */
  known: KnownWorld
  edits: readonly Edit[]
}

/** A change of the sources may move them; `--bugs` says where each is found. */
const plainWorlds: Readonly<Record<string, readonly number[]>> = {
  'charge-before-state': [1],
  'release-outside-transaction': [1],
  'hold-kept-on-failure': [1],
  'failed-is-charged': [1],
  'end-without-its-step': [1],
  'no-compare-and-set': [6],
  'poll-without-fence': [142],
  'double-charge': [22],
  'create-resent': [13],
  'unknown-is-refused': [2],
  'hold-after-send': [2],
  'answer-before-durable': [2],
  'hold-not-reserved': [14],
  'balance-read-outside': [1105],
  'failed-write-trusted': [13],
  'lease-spent-while-returned': [379],
  'price-not-frozen': [2],
  'cancelled-is-charged': [7],
  'key-outside-transaction': [3],
  'callback-outside-transaction': [226],
  'images-charged-as-requested': [20],
  'unknown-frees-key': [406],
  'call-hold-leaks': [4],
  'burial-keeps-credit': [3],
  'draw-for-one': [11],
  'charge-cut-to-lease': [27],
  'short-again': [43],
  'own-clock': [46],
  'read-before-records': [216],
  'applied-not-kept': [10],
}

const otherWorlds: Readonly<Record<string, KnownWorld>> = {
  'unapplied-is-forgotten': { seeds: [17], gateways: 1 },
  'failed-cost-dropped': { seeds: [5], parts: 'books' },
  'cost-of-another-channel': { seeds: [2] },
  'own-response-without-channel': { seeds: [1], parts: 'background' },
  'refund-checked-before': { seeds: [1], gateways: 3, parts: 'books' },
  'refund-twice-in-bill': { seeds: [1], parts: 'books' },
  'bill-number-lost': { seeds: [1], parts: 'books' },
  'line-charged-twice': { seeds: [3], parts: 'batches' },
  'line-lost': { seeds: [5, 89], parts: 'batches' },
  'line-not-charged': { seeds: [7], parts: 'batches' },
  'line-adopted-twice': { seeds: [105], gateways: 3, parts: 'batches' },
  'response-sent-again': { seeds: [3], parts: 'background' },
}

export const knownWorld = (name: string): KnownWorld =>
  otherWorlds[name] ?? { seeds: plainWorlds[name] ?? [] }

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
