// The delay of the first token while 100 streams are open, directly, through nginx and through the
// gateway, in turn. The streams are slow, so that no process is busy and only the added delay is left.

import { countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  workspaceFor,
} from '../lib/part.ts'
import { startGateway, startNginx, type Target } from '../lib/targets.ts'
import type { LoadCommand, LoadResult } from '../load/load.ts'
import { rawRequest } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { payloads } from '../payload/index.ts'
import type { PaceCommand } from '../upstreams/paced-upstream.ts'
import {
  checkFirstToken,
  type Delays,
  formatFirstToken,
  type Round,
  summariseFirstToken,
  type TargetName,
  targetNames,
} from './first-token-report.ts'

type Asked = Pick<Target, 'port' | 'headers'>

const streams = 100
const pace = { firstMs: 20, everyMs: 50, tokens: 8 }
/** How long one stream lasts; the callers start spread over this time and stay spread. */
const streamMs = pace.firstMs + pace.everyMs * pace.tokens
const warmUpSeconds = 4
const lateMs = 10_000

export const firstTokenSeconds = ({ rounds, seconds }: Options): number =>
  targetNames.length * (warmUpSeconds + rounds * (seconds + streamMs / 1000))

export async function runFirstToken(run: Run): Promise<PartResult> {
  const { options } = run
  const own = workspaceFor(run, 'first-token')
  const upstream = startProgram(own, 'upstreams/paced-upstream')
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  upstream.send(JSON.stringify({ command: 'pace', ...pace } satisfies PaceCommand))
  const gateway = await startGateway(workspace, options.gatewayCommand)
  const targets: Record<TargetName, Asked> = {
    direct: { port: workspace.upstreamPort, headers: {} },
    nginx: await startNginx(workspace, run.nginx),
    gateway,
  }
  const load = startProgram(own, 'load/load')
  const before = await readBalance(gateway)
  let served = 0
  for (const name of targetNames) {
    const warm = await runSlice(load, targets[name], warmUpSeconds)
    if (name === 'gateway') served += warm.served
  }
  const rounds = await runRounds(options, load, targets)
  const rows = summariseFirstToken(rounds)
  const last = rows.find(({ target }) => target === 'gateway')!
  served += last.served
  return {
    setting:
      `first token: ${streams} open streams, one token every ${pace.everyMs} ms; time from the ` +
      `request to the first token,\n             less what the upstream held it back ` +
      `(${pace.firstMs} ms and a little more); medians of ${options.rounds} rounds`,
    tables: [formatFirstToken(rows)],
    verdicts: checkFirstToken(rows),
    charges: [countCharges(before, await readBalance(gateway), 'stream', served)],
    failed: last.failed,
    figures: { firstToken: rows, firstTokenRounds: rounds },
  }
}

async function runRounds(
  { rounds, seconds }: Options,
  load: Child,
  targets: Record<TargetName, Asked>,
): Promise<Round[]> {
  const done: Round[] = []
  for (let number = 1; number <= rounds; number++) {
    const round: Partial<Round> = {}
    for (const name of targetNames) {
      const slice = await runSlice(load, targets[name], seconds)
      round[name] = slice
      const delay = `p50 ${slice.p50Ms.toFixed(2)} ms, p99 ${slice.p99Ms.toFixed(2)} ms`
      const failures = slice.failed === 0 ? '' : `  ${slice.failed} failed: ${slice.firstFailure}`
      note(`round ${number}/${rounds} first token ${name.padEnd(8)} ${delay}${failures}`)
    }
    done.push(round as Round)
  }
  return done
}

async function runSlice(
  load: Child,
  target: Asked,
  seconds: number,
): Promise<Delays & Pick<LoadResult, 'firstFailure'>> {
  const command: LoadCommand = {
    port: target.port,
    request: rawRequest(target, { style: 'chat', mode: 'stream' }),
    minBodyBytes: 1,
    endMark: payloads.chat.stream!.endMark,
    connections: streams,
    seconds,
    firstToken: true,
    spreadMs: streamMs,
  }
  const { served, failed, firstFailure, p50Ms, p99Ms } = await ask<LoadResult>(
    load,
    command,
    seconds * 1000 + lateMs,
  )
  return { served, failed, p50Ms, p99Ms, ...(firstFailure !== undefined && { firstFailure }) }
}
