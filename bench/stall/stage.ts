// The gateway, the upstreams, the senders and the other caller whose waiting is measured. Refuses to know
// what is sent and what the figures mean.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Child } from '../lib/children.ts'
import { ask, note, portOf, type Run, root, startProgram, workspaceFor } from '../lib/part.ts'
import { watchPeakMemory } from '../lib/peak-memory.ts'
import { memory } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { otherCaller, stageConfig } from './config.ts'
import type { ProbeCommand, ProbeResult } from './probe.ts'
import { everyShape, type StallRow, type Waited } from './report.ts'
import type { SendCommand, Sent } from './send.ts'
import type { LongTurn } from './watch-turns.ts'

export const bodyBytes = 32 * 1024 * 1024 - 1024
/** For every shape, one after the other, on a machine that has other work. */
const sendMs = 600_000
const quietSleepMs = 5_000
const maxLongTurns = 10
const warmUps = ['one long text', 'chat>messages: messages']

export interface Stage {
  gateway: Target
  url: string
  /** What the other caller waited since this was last asked. */
  wait(): Promise<Waited>
  /** The same beside one body or several copies of it; undefined: every hostile one. */
  body(shape: string | undefined, copies: number): Promise<StallRow>
  /** While nothing was sent. */
  quiet: Waited
  baseBytes: number
}

export async function startStage(run: Run, name: string): Promise<Stage> {
  const own = workspaceFor(run, name)
  const upstreamPort = await portOf(startProgram(own, 'stall/upstream'))
  const otherPort = await portOf(startProgram(own, 'stall/upstream', 'usual-priority'))
  const turnsFile = join(own.tempDir, 'turns')
  const gateway = await startGateway({ ...own, upstreamPort }, run.options.gatewayCommand, [], {
    config: stageConfig({
      url: `http://127.0.0.1:${upstreamPort}`,
      otherUrl: `http://127.0.0.1:${otherPort}`,
    }),
    env: {
      BUN_OPTIONS: `--preload=${join(root, 'bench/stall/watch-turns.ts')}`,
      BENCH_TURNS: turnsFile,
    },
  })
  const url = `http://127.0.0.1:${gateway.port}`
  const wait = waitingOf(startProgram(own, 'stall/probe'), url, turnsFile)
  const body = sendingOf(startProgram(own, 'stall/send'), url, gateway, wait)
  // Once, so that the code is compiled.
  for (const shape of warmUps) await body(shape, 1)
  await Bun.sleep(quietSleepMs)
  const quiet = await wait()
  return { gateway, url, wait, body, quiet, baseBytes: memory(gateway.pids).rssBytes }
}

function waitingOf(probe: Child, url: string, turnsFile: string): Stage['wait'] {
  const command: ProbeCommand = { url, ...otherCaller }
  let seen = 0
  return async () => {
    const waited = await ask<ProbeResult>(probe, command, sendMs)
    const turns = turnsIn(turnsFile)
    const since = turns.slice(seen)
    seen = turns.length
    return {
      ...waited,
      maxTurnMs: Math.max(0, ...since.map(({ ms }) => ms)),
      maxTurnCpuMs: Math.max(0, ...since.map(({ cpuMs }) => cpuMs)),
      longTurns: since.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, maxLongTurns),
    }
  }
}

const turnsIn = (file: string): LongTurn[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line) as LongTurn)
    : []

function sendingOf(
  sender: Child,
  url: string,
  gateway: Target,
  wait: Stage['wait'],
): Stage['body'] {
  return async (wanted, copies) => {
    const shape = wanted ?? everyShape
    await wait()
    const peakMemory = watchPeakMemory(gateway)
    const { headers } = gateway
    const command: SendCommand = { url, headers, bytes: bodyBytes, copies }
    if (wanted !== undefined) command.shape = wanted
    const { statuses } = await ask<Sent>(sender, command, sendMs)
    const waited = await wait()
    note(`stall: ${shape} x ${copies}: ${waited.worstMs.toFixed(0)} ms`)
    return { shape, copies, statuses, waited, peakBytes: peakMemory() }
  }
}
