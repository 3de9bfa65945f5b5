// Seeds that have found something once, each with what that was: they are played again for ever.

export interface KeptSeed {
  seed: number
  tasks: number
  gateways: 1 | 3
  found: string
}

export const keptSeeds: readonly KeptSeed[] = []
