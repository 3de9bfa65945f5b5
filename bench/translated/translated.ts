// CPU of calls that the gateway translates, beside calls of the same style to the same upstream, all
// with a mapped model name and all in one run. Refuses to know tables.

import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import type { Child } from '../lib/children.ts'
import { pairConfig, pairModel, unmappedModel } from '../lib/pair-config.ts'
import { note, type PartResult, portOf, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import { startGateway, startNginx, type Target } from '../lib/targets.ts'
import { type Call, measure, probe, settleSeconds, type Work } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { type Mode, modes, type TextStyle } from '../payload/index.ts'
import { checkPairs, formatPairs, type PairSlice, sameName, summarisePairs } from './report.ts'

const warmUpSeconds = 8

interface Row extends Call {
  target: 'nginx' | 'gateway'
  pair: string
}

interface PairWork extends Work {
  pair: string
}

/** Own styles first: the others are compared with them. */
function rowsFor({ pairs }: Pick<Options, 'pairs'>, mode: Mode): Row[] {
  const asked = pairs.map((pair) => pair.split('>') as [TextStyle, TextStyle])
  const callers = [...new Set(asked.map(([caller]) => caller))]
  const own = callers.flatMap((style): Row[] => [
    { target: 'nginx', pair: `${style}>${style}`, style, mode },
    { target: 'gateway', pair: `${style}>${style}`, style, mode, model: pairModel(style) },
    {
      target: 'gateway',
      pair: `${style}>${style}, ${sameName}`,
      style,
      mode,
      model: unmappedModel(style),
    },
  ])
  const translated = asked.map(
    ([style, upstream]): Row => ({
      target: 'gateway',
      pair: `${style}>${upstream}`,
      style,
      mode,
      model: pairModel(upstream),
      isTranslated: true,
    }),
  )
  return [...own, ...translated]
}

export function translatedSeconds(options: Options): number {
  const rows = modes.flatMap((mode) => rowsFor(options, mode)).length
  return rows * (options.rounds * (options.seconds + settleSeconds) + warmUpSeconds + 1)
}

export async function runTranslated(run: Run): Promise<PartResult> {
  const { options } = run
  const { nginx, gateway, load } = await startAll(run)
  const slices: PairSlice[] = []
  const charges: Charges[] = []
  for (const mode of modes) {
    const targets = { nginx, gateway }
    const result = await runMode(options, rowsFor(options, mode), targets, load)
    slices.push(...result.slices)
    charges.push(result.charges)
  }
  const figures = summarisePairs(slices)
  const { connections, rounds, seconds, chunksPerWrite } = options
  return {
    setting:
      `translated: ${connections} connections, medians of ${rounds} interleaved rounds of ` +
      `${seconds} s; names are mapped\n            unless it says otherwise; a stream is 100 ` +
      `deltas, ${chunksPerWrite} events per network write`,
    tables: [formatPairs(figures)],
    verdicts: checkPairs(figures),
    charges,
    failed: figures.reduce((sum, row) => sum + (row.target === 'gateway' ? row.failed : 0), 0),
    figures: { pairs: figures, pairSlices: slices },
  }
}

async function startAll(run: Run): Promise<{ nginx: Target; gateway: Target; load: Child }> {
  const { options } = run
  const own = workspaceFor(run, 'translated')
  const upstream = startProgram(own, 'upstreams/text-upstream', String(options.chunksPerWrite))
  const workspace = { ...own, upstreamPort: await portOf(upstream) }
  const config = pairConfig(`http://127.0.0.1:${workspace.upstreamPort}`)
  return {
    nginx: await startNginx(workspace, run.nginx),
    gateway: await startGateway(workspace, options.gatewayCommand, [], { config }),
    load: startProgram(own, 'load/load'),
  }
}

async function runMode(
  options: Options,
  rows: readonly Row[],
  targets: Record<Row['target'], Target>,
  load: Child,
): Promise<{ slices: PairSlice[]; charges: Charges }> {
  const { gateway } = targets
  const { connections, rounds, seconds } = options
  const before = await readBalance(gateway)
  const works: PairWork[] = []
  let served = 0
  for (const { target, pair, ...call } of rows) {
    const work = { ...(await probe(targets[target], call)), pair }
    const warm = await measure(load, work, connections, target === 'nginx' ? 1 : warmUpSeconds)
    works.push(work)
    if (target === 'gateway') served += warm.served + 1
  }
  const slices: PairSlice[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const work of works) {
      const slice = { ...(await measure(load, work, connections, seconds)), pair: work.pair }
      slices.push(slice)
      if (work.target === gateway) served += slice.served
      noteSlice(slice, `${round}/${rounds}`)
    }
  }
  const { mode } = rows[0]!
  return { slices, charges: countCharges(before, await readBalance(gateway), mode, served) }
}

function noteSlice(slice: PairSlice, round: string): void {
  const { mode, pair, target, cpuMicrosPerRequest, failed, firstFailure } = slice
  const failures = failed === 0 ? '' : `  ${failed} failed: ${firstFailure}`
  const what = `${mode} ${pair.padEnd(20)} ${target.padEnd(8)}`
  note(`round ${round} ${what} ${cpuMicrosPerRequest.toFixed(1)} us/req${failures}`)
}
