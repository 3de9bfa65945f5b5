// Kills a participant under load, starts it again and counts what is left of the charges for the calls
// that callers had been answered. Refuses to know tables.

import type { Child } from '../lib/children.ts'
import { note } from '../lib/part.ts'
import { treeOf } from '../lib/proc.ts'
import type { Target } from '../lib/targets.ts'
import type { LoadResult } from '../load/load.ts'
import { commandFor, probe } from '../load/slice.ts'
import type { Mode } from '../payload/index.ts'
import type { Peer } from './peer.ts'
import type { KillFigures } from './report.ts'

/** Long enough for batches to be written in between, not so long that all of them are. */
const killAfterMs = 8_000
const loadSeconds = 20
const loadMs = 60_000
/** Books that are written late get this long after the next start. */
const settleMs = 15_000

/** Kills every process of the target, and resolves when its callers have noticed. */
async function killUnderLoad(
  load: Child,
  target: Target,
  { model }: Peer,
  mode: Mode,
  connections: number,
): Promise<LoadResult> {
  const work = await probe(target, { style: 'chat', mode, model })
  load.send(JSON.stringify(commandFor(work, connections, loadSeconds)))
  await Bun.sleep(killAfterMs)
  for (const pid of treeOf(target.child.pid)) process.kill(pid, 'SIGKILL')
  return JSON.parse(await load.waitForLine(/^\{.*\}$/, loadMs)) as LoadResult
}

/** `target` is dead afterwards; the new one is given back. */
export async function measureKill(
  load: Child,
  peer: Peer,
  target: Target,
  mode: Mode,
  connections: number,
): Promise<{ figures: KillFigures; target: Target }> {
  const { name, charging } = peer
  note(`peers: killing ${name} under load (${mode}) ...`)
  const before = charging.kept === 'books' ? await charging.count(mode) : 0
  const result = await killUnderLoad(load, target, peer, mode, connections)
  const next = await peer.start()
  // The probe was answered, too.
  const figures = { target: name, mode, answered: result.served + 1 }
  if (charging.kept === 'nowhere') {
    return { figures: { ...figures, books: charging.why }, target: next }
  }
  let charged = (await charging.count(mode)) - before
  if (charged < figures.answered) {
    await Bun.sleep(settleMs)
    charged = (await charging.count(mode)) - before
  }
  const rounded = Math.round(charged)
  return { figures: { ...figures, charged: rounded, books: charging.where }, target: next }
}
