// The gateway beside other gateways that a package registry has, in one run: CPU of all their processes,
// memory and delays, and the charges that are lost when the process is killed. Refuses to know tables.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Slice } from '../cpu/report.ts'
import { note, type PartResult, portOf, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import type { Target, Workspace } from '../lib/targets.ts'
import { measure, probe, settleSeconds, type Work } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { type Mode, modes } from '../payload/index.ts'
import { measureKill } from './kill.ts'
import { makeLiteLlm } from './litellm.ts'
import { makeOwn, ownName } from './own.ts'
import type { MakePeer, Peer } from './peer.ts'
import { makePortkey } from './portkey.ts'
import { checkPeers, formatKills, formatPeers, type KillFigures, summarisePeers } from './report.ts'

const makers: Record<string, MakePeer> = {
  [ownName]: makeOwn,
  portkey: makePortkey,
  litellm: makeLiteLlm,
}
const warmUpSeconds = 12
const installSeconds = 900
const killSeconds = 120

export const peersSeconds = ({ rounds, seconds }: Options): number =>
  modes.length *
    Object.keys(makers).length *
    (rounds * (seconds + settleSeconds) + warmUpSeconds + killSeconds) +
  installSeconds

interface Participant {
  peer: Peer
  target: Target
}

export async function runPeers(run: Run): Promise<PartResult> {
  const { options } = run
  const place = workspaceFor(run, 'peers')
  const upstream = startProgram(place, 'upstreams/text-upstream', String(options.chunksPerWrite))
  const upstreamPort = await portOf(upstream)
  const load = startProgram(place, 'load/load')
  const { participants, absent } = await getAll({ ...place, upstreamPort }, options)
  const slices: Slice[] = []
  const kills: KillFigures[] = []
  try {
    for (const mode of modes) slices.push(...(await measureMode(options, mode, participants, load)))
    for (const mode of modes) {
      for (const each of participants) {
        const connections = connectionsOf(each.peer, mode, options)
        const killed = await measureKill(load, each.peer, each.target, mode, connections)
        kills.push(killed.figures)
        each.target = killed.target
      }
    }
  } finally {
    for (const { peer } of participants) await peer.end?.()
  }
  const figures = summarisePeers(slices, ownName)
  const settings = participants.map(({ peer: { name, setting } }) => `${name}: ${setting}`)
  return {
    setting:
      `peers: chat calls, ${options.connections} connections, medians of ${options.rounds} ` +
      `interleaved rounds of ${options.seconds} s\n       ${[...settings, ...absent].join('\n       ')}`,
    tables: [formatPeers(figures), formatKills(kills)],
    verdicts: checkPeers(figures, kills, ownName),
    figures: { peers: figures, peerSlices: slices, kills },
  }
}

const connectionsOf = ({ maxStreams }: Peer, mode: Mode, { connections }: Options): number =>
  mode === 'stream' ? Math.min(connections, maxStreams ?? connections) : connections

/** A peer that cannot be had is left out, and the result says why. */
async function getAll(
  place: Workspace,
  options: Options,
): Promise<{ participants: Participant[]; absent: string[] }> {
  const participants: Participant[] = []
  const absent: string[] = []
  for (const [name, make] of Object.entries(makers)) {
    const workspace = { ...place, tempDir: join(place.tempDir, name) }
    mkdirSync(workspace.tempDir)
    note(`peers: getting ${name} ...`)
    try {
      const peer = await make(workspace, options)
      participants.push({ peer, target: await peer.start() })
    } catch (error) {
      const { message } = error as Error
      if (name === ownName) throw error
      note(`peers: ${name} is left out: ${message}`)
      absent.push(`${name}: left out (${message.split('\n')[0]})`)
    }
  }
  return { participants, absent }
}

/** What answers correctly, warm, and then in turn. */
async function measureMode(
  options: Options,
  mode: Mode,
  participants: readonly Participant[],
  load: Parameters<typeof measure>[0],
): Promise<Slice[]> {
  const { rounds, seconds } = options
  const works: { work: Work; connections: number }[] = []
  for (const { peer, target } of participants) {
    const work = await probe(target, { style: 'chat', mode, model: peer.model })
    const connections = connectionsOf(peer, mode, options)
    await measure(load, work, connections, warmUpSeconds)
    works.push({ work, connections })
  }
  const slices: Slice[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const { work, connections } of works) {
      const slice = await measure(load, work, connections, seconds)
      slices.push(slice)
      const cost = `${slice.cpuMicrosPerRequest.toFixed(1)} us/req`
      const failures = slice.failed === 0 ? '' : `  ${slice.failed} failed: ${slice.firstFailure}`
      note(`round ${round}/${rounds} ${mode} ${slice.target.padEnd(8)} ${cost}${failures}`)
    }
  }
  return slices
}
