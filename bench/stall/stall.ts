// How long another caller waits while the gateway reads a body of the largest size, for every shape that is
// expensive for some parser; alone, and some of them four at once. And what stays in memory. The same beside
// requests that are hard to translate, and beside a random mix of thousands of hostile ones.

import { ask, note, type PartResult, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import { watchPeakMemory } from '../lib/peak-memory.ts'
import { memory } from '../lib/proc.ts'
import { stallBodies } from './bodies.ts'
import { hostileBodies } from './hostile.ts'
import {
  checkHostile,
  checkStalls,
  formatStalls,
  restSeconds,
  type StallFigures,
  type StallRow,
  statusesOf,
} from './report.ts'
import type { MixCommand, MixSent } from './send-mix.ts'
import { bodyBytes, type Stage, startStage } from './stage.ts'

const concurrent = ['one long text', 'an image', 'empty objects', 'text in Chinese']
const copiesAtOnce = 4

export const stallSeconds = 4 * (Object.keys(stallBodies).length + concurrent.length) + 40
/** Each of them sends every hostile body. */
const hostileCallers = [1, 4]
const mix = { seed: 20_261_118, count: 10_000 }
const mixCallers = [1, 4]
/** Turns of so much CPU time are noted with the request that they may be of. */
const notedTurnMs = 30
const mixMs = 3_600_000
export const hostileSeconds =
  3 * Object.keys(hostileBodies).length + 60 + (mixCallers.length * mixMs) / 1000

export async function runStall(run: Run): Promise<PartResult> {
  const stage = await startStage(run, 'stall')
  const rows: StallRow[] = []
  for (const shape of Object.keys(stallBodies)) rows.push(await stage.body(shape, 1))
  for (const shape of concurrent) rows.push(await stage.body(shape, copiesAtOnce))
  const figures = await figuresOf(stage, rows)
  return {
    setting: `stall: bodies of ${bodyBytes} bytes, while another caller has small chat calls`,
    tables: [formatStalls(figures)],
    verdicts: checkStalls(figures),
    figures: { stall: figures },
  }
}

/** Requests that are hard to translate, alone and by four callers at once; then the mix. */
export async function runHostile(run: Run): Promise<PartResult> {
  const stage = await startStage(run, 'hostile')
  const rows: StallRow[] = []
  for (const shape of Object.keys(hostileBodies)) rows.push(await stage.body(shape, 1))
  for (const callers of hostileCallers) rows.push(await stage.body(undefined, callers))
  for (const callers of mixCallers) rows.push(await sendMix(run, stage, callers))
  const figures = await figuresOf(stage, rows)
  return {
    setting:
      'hostile: requests that are hard to translate, and a random mix of ' +
      `${mix.count} (seed ${mix.seed}), while another caller has small chat calls`,
    tables: [formatStalls(figures)],
    verdicts: checkHostile(figures),
    figures: { hostile: figures },
  }
}

async function sendMix(run: Run, stage: Stage, callers: number): Promise<StallRow> {
  const { url, gateway } = stage
  const sender = startProgram(workspaceFor(run, `mix-${callers}`), 'stall/send-mix')
  const command: MixCommand = { url, headers: gateway.headers, callers, ...mix }
  await stage.wait()
  const peakMemory = watchPeakMemory(gateway)
  const sent = await ask<MixSent>(sender, command, mixMs)
  const waited = await stage.wait()
  for (const failure of sent.failures) note(`mix: ${failure}`)
  for (const { atMs, cpuMs } of waited.longTurns) {
    if (cpuMs < notedTurnMs) continue
    const during = sent.slow.filter(
      ({ fromMs, untilMs }) => fromMs <= atMs && untilMs >= atMs - cpuMs,
    )
    const names = during.map(({ name, bytes }) => `${name} (${bytes} bytes)`).join(', ')
    note(`mix: a turn of ${cpuMs.toFixed(0)} ms during ${names || 'no slow request'}`)
  }
  const statuses = statusesOf(sent.statuses)
  return {
    shape: `a mix of ${mix.count}`,
    copies: callers,
    statuses,
    waited,
    peakBytes: peakMemory(),
  }
}

async function figuresOf(
  { gateway, quiet, baseBytes }: Stage,
  rows: StallRow[],
): Promise<StallFigures> {
  await Bun.sleep(restSeconds * 1000)
  return { quiet, rows, baseBytes, restBytes: memory(gateway.pids).rssBytes }
}
