// The command line of the simulator.
import { bugs } from './bugs/bugs.ts'
import { type Parts, partsFrom } from './world/parts.ts'

export interface Options {
  seeds: number
  /** 1 by default; of a bug, its known worlds come first. */
  from: number | undefined
  /** Seeds before them. */
  first: readonly number[]
  tasks: number
  gateways: 1 | 3 | undefined
  /** Drawn by the seed by default. */
  parts: Parts | undefined
  /** More kills, and more commits of unknown outcome. */
  heavy: boolean
  verbose: boolean
  /** One line for each seed. */
  digests: boolean
  /** Where gateways have died, and how often. */
  deaths: boolean
  /** Bugs to put into a copy of the sources, by name; empty: the sources as they are. */
  bugs: readonly string[]
}

const usage =
  'usage: npm run simulate -- [--seeds N] [--from SEED] [--first SEED,SEED] [--tasks N] [--gateways 1|3] [--heavy] ' +
  '[--parts none|all|books,batches,background] [--verbose] [--digests] [--deaths] [--bug NAME | --bugs]'

export function parseOptions(args: readonly string[]): Options | { problem: string } {
  const options: Options = {
    seeds: 100,
    from: undefined,
    first: [],
    tasks: 12,
    gateways: undefined,
    parts: undefined,
    heavy: false,
    verbose: false,
    digests: false,
    deaths: false,
    bugs: [],
  }
  for (let at = 0; at < args.length; at++) {
    const name = args[at]!
    if (name === '--verbose') options.verbose = true
    else if (name === '--heavy') options.heavy = true
    else if (name === '--digests') options.digests = true
    else if (name === '--deaths') options.deaths = true
    else if (name === '--bugs') options.bugs = bugs.map((bug) => bug.name)
    else if (name === '--bug') {
      const bug = args[++at] ?? ''
      const names = bugs.map((known) => known.name)
      if (!names.includes(bug)) return { problem: `--bug takes one of: ${names.join(', ')}` }
      options.bugs = [...options.bugs, bug]
    } else if (name === '--first' || name === '--parts') {
      if (!readList(options, name, args[++at] ?? '')) return { problem: usage }
    } else {
      const value = Number(args[++at])
      if (!Number.isSafeInteger(value) || value < 1) return { problem: usage }
      if (name === '--seeds') options.seeds = value
      else if (name === '--from') options.from = value
      else if (name === '--tasks') options.tasks = value
      else if (name === '--gateways' && (value === 1 || value === 3)) options.gateways = value
      else return { problem: usage }
    }
  }
  return options
}

/** False: it is none. */
function readList(options: Options, name: '--first' | '--parts', text: string): boolean {
  if (name === '--parts') {
    options.parts = partsFrom(text)
    return options.parts !== undefined
  }
  options.first = text.split(',').map(Number)
  return options.first.every((seed) => Number.isSafeInteger(seed))
}
