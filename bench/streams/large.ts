// Memory of one gateway process that holds many streams whose requests are large: a long history in
// each. Once where the gateway forwards the call and once where it translates it, each on a gateway of
// its own. Refuses to know tables.

import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import { pairConfig, pairModel } from '../lib/pair-config.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  stopAll,
  workspaceFor,
} from '../lib/part.ts'
import { watchPeakMemory } from '../lib/peak-memory.ts'
import { memory } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import type { HeldCommand, HeldResult, Listened } from '../load/held-load.ts'
import { type Call, rawRequest } from '../load/slice.ts'
import { endMarkOf, type TextStyle } from '../payload/index.ts'
import type { PaceCommand } from '../upstreams/paced-upstream.ts'
import { checkLarge, formatLarge, type LargeFigures } from './large-report.ts'

const streams = 1000
const requestBytes = 500_000
const turnBytes = 2000
/** Reading and translating takes some milliseconds each: the gateway keeps up with these. */
const perSecond = 25
const pace = { firstMs: 100, everyMs: 1000 }
const listenSeconds = 10
const openMs = 90_000
const finishMs = 20_000

const rounds: readonly { name: string; style: TextStyle }[] = [
  { name: 'own style', style: 'chat' },
  { name: 'translated', style: 'messages' },
]

export const largeSeconds = rounds.length * (streams / perSecond + listenSeconds + 40)

export async function runLarge(run: Run): Promise<PartResult> {
  const figures: LargeFigures[] = []
  const charges: Charges[] = []
  for (const { name, style } of rounds) {
    const result = await hold(run, name, style)
    figures.push(result.figures)
    charges.push(result.charges)
    await stopAll(run)
  }
  return {
    setting:
      `large: ${streams} streams of one token a second with requests of ` +
      `${requestBytes / 1000} KB, opened at ${perSecond} a second`,
    tables: [formatLarge(figures)],
    verdicts: checkLarge(figures),
    charges,
    failed: figures.reduce((sum, row) => sum + row.failed, 0),
    figures: { large: figures },
  }
}

/** A conversation of many turns; the fields fit chat and messages. */
function largeBody(model: string): string {
  const sentence = 'and then the tool said that all of it was "fine".\n'
  const content = sentence.repeat(Math.ceil(turnBytes / sentence.length))
  // The caller has the last word.
  const messages = Array.from({ length: requestBytes / turnBytes + 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content,
  }))
  return JSON.stringify({ model, max_tokens: 1024, stream: true, messages })
}

async function start(run: Run, style: TextStyle) {
  const own = workspaceFor(run, `large-${style}`)
  const upstream = startProgram(own, 'upstreams/paced-upstream')
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  const config = pairConfig(`http://127.0.0.1:${workspace.upstreamPort}`)
  const gateway = await startGateway(workspace, run.options.gatewayCommand, [], { config })
  const tell = (command: PaceCommand) => upstream.send(JSON.stringify(command))
  return { gateway, tell, load: startProgram(own, 'load/held-load') }
}

function openCommand(gateway: Target, style: TextStyle): HeldCommand {
  const call: Call = { style, mode: 'stream', model: pairModel('chat') }
  return {
    command: 'hold',
    port: gateway.port,
    request: rawRequest(gateway, call, largeBody(pairModel('chat'))),
    endMark: endMarkOf(style, style !== 'chat')!,
    streams,
    perSecond,
  }
}

async function hold(
  run: Run,
  name: string,
  style: TextStyle,
): Promise<{ figures: LargeFigures; charges: Charges }> {
  const { gateway, tell, load } = await start(run, style)
  tell({ command: 'pace', ...pace })
  const before = await readBalance(gateway)
  const baseBytes = memory(gateway.pids).rssBytes
  const peakMemory = watchPeakMemory(gateway)
  note(`large: opening ${streams} streams, ${name} ...`)
  const opened = await ask<HeldResult>(load, openCommand(gateway, style), openMs)
  note(`large: ${opened.open} open, ${opened.failed} failed ${opened.firstFailure ?? ''}`)
  const listening = { command: 'listen', seconds: listenSeconds }
  const listened = await ask<Listened>(load, listening, listenSeconds * 1000 + finishMs)
  const heldBytes = memory(gateway.pids).rssBytes
  const sampledBytes = peakMemory()
  const { peakBytes } = memory(gateway.pids)
  tell({ command: 'end' })
  const ending = { command: 'finish', timeoutMs: finishMs }
  const ended = await ask<HeldResult>(load, ending, finishMs + 1000)
  if (ended.failed > 0) note(`large: ${ended.failed} failed: ${ended.firstFailure}`)
  const figures: LargeFigures = {
    name,
    streams,
    held: listened.open,
    requestBytes,
    baseBytes,
    heldBytes,
    peakBytes: Math.max(sampledBytes, peakBytes),
    failed: ended.failed,
  }
  const after = await readBalance(gateway)
  return { figures, charges: countCharges(before, after, 'stream', ended.ended) }
}
