// What takes part in the comparison: how it is set up, how it is started (again, after it was killed) and
// how many charges it has kept. Refuses to know figures.

import type { Target, Workspace } from '../lib/targets.ts'
import type { Options } from '../options.ts'
import type { Mode } from '../payload/index.ts'

/** What an instance keeps of the calls that it answered. */
export type Charging =
  /** Calls of a kind that its own books have. The difference of two counts is what counts. */
  | { kept: 'books'; where: string; count(mode: Mode): Promise<number> }
  | { kept: 'nowhere'; why: string }

export interface Peer {
  name: string
  /** Version and settings, in a line. */
  setting: string
  /** The name of the model that its callers use. */
  model: string
  /** Streams at once, where it cannot end as many as the others within a round. */
  maxStreams?: number
  /** May be called again after the process was killed; the data is the same. */
  start(): Promise<Target>
  charging: Charging
  /** A database of its own, for instance. */
  end?(): Promise<void>
}

/** Throws with a reason if the participant cannot be had on this machine. */
export type MakePeer = (workspace: Workspace, options: Options) => Promise<Peer>
