// Seeds that found a bug, each with what it was: the tests repeat them.

interface KeptSeed {
  seed: number
  tasks: number
  gateways: 1 | 3
  /** None by default. */
  parts?: string
  heavy?: true
  found: string
}

export const keptSeeds: readonly KeptSeed[] = [
  {
    seed: 10727,
    tasks: 100,
    gateways: 1,
    found: 'images that were made and could not be fetched were made again under the same key',
  },
  {
    seed: 255,
    tasks: 12,
    gateways: 1,
    heavy: true,
    found: 'a call beyond its hold spent what a task held whose write had an unknown outcome',
  },
  {
    seed: 2019,
    tasks: 12,
    gateways: 3,
    parts: 'batches',
    heavy: true,
    found: 'a batch whose claim could not be given back was not run again',
  },
]
