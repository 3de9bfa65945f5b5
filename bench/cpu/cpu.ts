// The CPU figures: every style as JSON and as a stream, and the other cases with chat; the targets in
// turn, so that noise on the machine hits all of them. Refuses to know tables.

import { type Charges, countCharges, readBalance } from '../lib/charges.ts'
import { note, type PartResult, type Run } from '../lib/part.ts'
import { hasPostgresPrograms } from '../lib/postgres.ts'
import { memory } from '../lib/proc.ts'
import type { Target } from '../lib/targets.ts'
import { measure, probe, settleSeconds, type Work } from '../load/slice.ts'
import type { Options } from '../options.ts'
import { hasMode, type Mode, type Style } from '../payload/index.ts'
import { type Case, cases } from './cases.ts'
import { modelFor, upstreamModel } from './cases-config.ts'
import { type CaseSlice, checkFigures, formatFigures, reference, summarise } from './report.ts'
import { type Setup, startSetup } from './setup.ts'

/**
 * The steady state counts: a just-in-time compiler has done nearly all of its work after some 50,000 calls
 * of a kind.
 */
const warmUpSeconds = 12
/** What is compiled already only has to open its connections. */
const shortWarmUpSeconds = 1
/** After the load, before the memory at rest is read. */
const restSeconds = 10
const extraSeconds = 60

/** Cases that are measured in turn, in one mode. */
interface Group {
  mode: Mode
  cases: readonly Case[]
}

interface CaseWork extends Work {
  case: Case
  connections: number
}

const chosenCases = ({ cases: names }: Options): Case[] =>
  cases.filter(
    ({ name, store }) => names.includes(name) && (store === 'sqlite' || hasPostgresPrograms),
  )

/** Other cases than the normal one are measured with chat. */
const stylesOf = (options: Options, { name }: Case, mode: Mode): Style[] =>
  name === 'normal' ? options.styles.filter((style) => hasMode(style, mode)) : ['chat']

/** The ordinary ones first and together, then each of the others. */
function groupsFor(options: Options): { ordinary: Group[]; special: Group[] } {
  const chosen = chosenCases(options)
  const inMode = (mode: Mode, isOrdinary: boolean) =>
    chosen.filter((each) => each.isOrdinary === isOrdinary && each.modes.includes(mode))
  const ordinary = options.modes.map((mode) => ({ mode, cases: inMode(mode, true) }))
  const special = options.modes.flatMap((mode) =>
    inMode(mode, false).map((each) => ({ mode, cases: [each] })),
  )
  return { ordinary: ordinary.filter((group) => group.cases.length > 0), special }
}

export function cpuSeconds(options: Options): number {
  const { ordinary, special } = groupsFor(options)
  const slices = options.rounds * (options.seconds + settleSeconds)
  const seconds = [...ordinary, ...special].flatMap((group) =>
    group.cases.flatMap((each) => {
      const bare = each.hasBare ? slices + warmUpSeconds : 0
      const styles = stylesOf(options, each, group.mode).length
      return styles * (2 * slices + warmUpSeconds + shortWarmUpSeconds) + bare
    }),
  )
  return seconds.reduce((sum, each) => sum + each, restSeconds + extraSeconds)
}

export async function runCpu(run: Run): Promise<PartResult> {
  const { options } = run
  const setup = await startSetup(run, chosenCases(options))
  const slices: CaseSlice[] = []
  const charges: Charges[] = []
  const { ordinary, special } = groupsFor(options)
  const runAll = async (groups: readonly Group[]) => {
    for (const group of groups) slices.push(...(await runGroup(options, group, setup, charges)))
  }
  let restBytes: number | undefined
  try {
    await runAll(ordinary)
    if (ordinary.length > 0) restBytes = await readRest(setup.gateways.sqlite!)
    await runAll(special)
  } finally {
    await setup.end()
  }
  return resultOf(options, slices, charges, restBytes)
}

async function readRest({ pids }: Target): Promise<number> {
  await Bun.sleep(restSeconds * 1000)
  return memory(pids).rssBytes
}

function resultOf(
  options: Options,
  slices: CaseSlice[],
  charges: Charges[],
  restBytes: number | undefined,
): PartResult {
  const figures = summarise(slices)
  const own = figures.filter(({ target }) => target === 'gateway')
  const { connections, rounds, seconds, chunksPerWrite } = options
  return {
    setting:
      `CPU: ${connections} connections, each with one request at a time; ` +
      `medians of ${rounds} interleaved rounds of ${seconds} s;\n` +
      `     a stream is 100 deltas, ${chunksPerWrite} events per network write of the upstream; ` +
      'the upstream has another\n     name for the model, unless the case says otherwise',
    tables: [formatFigures(figures)],
    verdicts: checkFigures(figures, { cases, connections, restBytes }),
    charges,
    failed: own.reduce((sum, row) => sum + row.failed, 0),
    figures: { figures, slices, restBytes },
  }
}

/** All slices of one group: probe and warm-up first, then cases, styles and targets in turn. */
async function runGroup(
  options: Options,
  group: Group,
  setup: Setup,
  charges: Charges[],
): Promise<CaseSlice[]> {
  const gateways = Object.values(setup.gateways).filter((target) => target !== undefined)
  const before = await Promise.all(gateways.map(readBalance))
  const served = new Map<Target, number>(gateways.map((target) => [target, 0]))
  const count = (target: Target, calls: number) =>
    served.has(target) && served.set(target, served.get(target)! + calls)
  const works = group.cases.flatMap((each) => worksFor(options, each, group.mode, setup))
  const ready: CaseWork[] = []
  for (const { connections, ...work } of works) {
    const probed = { ...work, connections, ...(await probe(work.target, work)) }
    const seconds = work.target.name === reference ? shortWarmUpSeconds : warmUpSeconds
    const warm = await measure(setup.load, probed, connections, seconds)
    count(work.target, warm.served + 1)
    ready.push(probed)
  }
  const slices: CaseSlice[] = []
  for (let round = 1; round <= options.rounds; round++) {
    for (const work of ready) {
      const measured = await measure(setup.load, work, work.connections, options.seconds)
      const slice = { ...measured, case: work.case.name }
      slices.push(slice)
      count(work.target, slice.served)
      noteSlice(slice, `${round}/${options.rounds}`)
    }
  }
  const after = await Promise.all(gateways.map(readBalance))
  for (const [i, target] of gateways.entries()) {
    charges.push(countCharges(before[i]!, after[i]!, group.mode, served.get(target)!))
  }
  return slices
}

/** The same call to every target; those that rename nothing get the upstream's own name. */
function worksFor(
  options: Options,
  each: Case,
  mode: Mode,
  { upstreamOf, nginx, bare, gateways }: Setup,
): Omit<CaseWork, 'minBodyBytes'>[] {
  const upstream = upstreamOf(each)
  const { body, asksUsage, keepsAlive, connections = options.connections } = each
  return stylesOf(options, each, mode).flatMap((style) => {
    const call = { style, mode, body, asksUsage, closes: !keepsAlive, case: each, connections }
    const beside = each.hasBare && style === 'chat' ? bare.get(upstream) : undefined
    const plain = [nginx[upstream]!, ...(beside === undefined ? [] : [beside])]
    return [
      ...plain.map((target) => ({ ...call, target, model: upstreamModel })),
      {
        ...call,
        target: gateways[each.store]!,
        model: modelFor(style, upstream, each.isMapped),
      },
    ]
  })
}

function noteSlice(slice: CaseSlice, round: string): void {
  const { mode, style, target, cpuMicrosPerRequest, failed, firstFailure } = slice
  const failures = failed === 0 ? '' : `  ${failed} failed: ${firstFailure}`
  const what = `${mode} ${style.padEnd(10)} ${slice.case.padEnd(16)} ${target.padEnd(8)}`
  note(`round ${round} ${what} ${cpuMicrosPerRequest.toFixed(1)} us/req${failures}`)
}
