// Seeds that have found something once, each with what that was: they are played again for ever.

export interface KeptSeed {
  seed: number
  tasks: number
  gateways: 1 | 3
  found: string
}

export const keptSeeds: readonly KeptSeed[] = [
  {
    seed: 10727,
    tasks: 100,
    gateways: 1,
    found: 'pictures that were made and could not be fetched were made again under the same key',
  },
]
