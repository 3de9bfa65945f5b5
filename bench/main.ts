// The bench: runs its parts one after the other and prints what each found. Bounded in time; ends
// all that it started. Refuses to know what the parts measure.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { batchesSeconds, runBatches } from './batches/batches.ts'
import { consoleSeconds, runConsole } from './console/console.ts'
import { cpuSeconds, runCpu } from './cpu/cpu.ts'
import { downloadsSeconds, runDownloads } from './downloads/downloads.ts'
import { failoverSeconds, runFailover } from './failover/failover.ts'
import { growthSeconds, runGrowth } from './growth/growth.ts'
import { ledgerSeconds, runLedger } from './ledger/ledger.ts'
import { formatCharges, sumCharges } from './lib/charges.ts'
import { note, type PartResult, type Run, root, stopAll } from './lib/part.ts'
import { hasProc } from './lib/proc.ts'
import { formatVerdicts } from './lib/report.ts'
import { findNginx, nginxVersion } from './lib/targets.ts'
import { help, type Options, parseOptions } from './options.ts'
import { overloadSeconds, runOverload } from './overload/overload.ts'
import { pagesSeconds, runPages } from './pages/pages.ts'
import { peersSeconds, runPeers } from './peers/peers.ts'
import { pollerSeconds, runPoller } from './poller/poller.ts'
import { runScaling, scalingSeconds } from './scaling/scaling.ts'
import { runScrape, scrapeSeconds } from './scrape/scrape.ts'
import { hostileSeconds, runHostile, runStall, stallSeconds } from './stall/stall.ts'
import { firstTokenSeconds, runFirstToken } from './streams/first-token.ts'
import { largeSeconds, runLarge } from './streams/large.ts'
import { memorySeconds, runMemory } from './streams/memory.ts'
import { runTranslated, translatedSeconds } from './translated/translated.ts'

interface Planned {
  seconds: number
  run(run: Run): Promise<PartResult>
}

/** Starting, draining and stopping, for every part. */
const spareSeconds = 25
const buildMs = 60_000

function planOf(options: Options): Planned[] {
  const others: Record<Options['parts'][number], Planned> = {
    'first-token': { seconds: firstTokenSeconds(options), run: runFirstToken },
    memory: { seconds: memorySeconds, run: runMemory },
    failover: { seconds: failoverSeconds, run: runFailover },
    downloads: { seconds: downloadsSeconds, run: runDownloads },
    poller: { seconds: pollerSeconds, run: runPoller },
    pages: { seconds: pagesSeconds(options), run: runPages },
    ledger: { seconds: ledgerSeconds(options), run: runLedger },
    scaling: { seconds: scalingSeconds(options), run: runScaling },
    console: { seconds: consoleSeconds, run: runConsole },
    scrape: { seconds: scrapeSeconds(options), run: runScrape },
    stall: { seconds: stallSeconds, run: runStall },
    hostile: { seconds: hostileSeconds, run: runHostile },
    translated: { seconds: translatedSeconds(options), run: runTranslated },
    growth: { seconds: growthSeconds(options), run: runGrowth },
    batches: { seconds: batchesSeconds, run: runBatches },
    overload: { seconds: overloadSeconds, run: runOverload },
    peers: { seconds: peersSeconds(options), run: runPeers },
    large: { seconds: largeSeconds, run: runLarge },
  }
  const cpu = options.modes.length === 0 ? [] : [{ seconds: cpuSeconds(options), run: runCpu }]
  return [...cpu, ...options.parts.map((part) => others[part])]
}

function machineLine(nginx: string): string {
  const all = cpus()
  const cpu = `${all.length} x ${all[0]?.model.trim() ?? 'unknown CPU'}`
  const versions = `Bun ${Bun.version}, nginx ${nginxVersion(nginx)}`
  return `machine: ${cpu}, Linux ${release()} ${process.arch}, ${versions}`
}

/** Every part has the machine to itself: what it started is ended before the next one starts. */
async function runParts(run: Run, plan: readonly Planned[]): Promise<PartResult[]> {
  const results: PartResult[] = []
  for (const part of plan) {
    results.push(await part.run(run))
    await stopAll(run)
  }
  return results
}

async function runBench(run: Run, plan: readonly Planned[]): Promise<number> {
  const { options } = run
  const results = await runParts(run, plan)
  const verdicts = results.flatMap((result) => result.verdicts ?? [])
  const charges = sumCharges(results.flatMap((result) => result.charges ?? []))
  const machine = machineLine(run.nginx)
  const { gatewayCommand, jsonFile, strict } = options
  const texts = results.map(({ setting, tables }) => `${setting}\n\n${tables.join('\n\n')}`)
  const heading = gatewayCommand === undefined ? machine : `${machine}\ngateway: ${gatewayCommand}`
  const sections = [heading, ...texts, formatVerdicts(verdicts), formatCharges(charges)]
  console.log(`\n${sections.join('\n\n')}`)
  if (jsonFile !== undefined) {
    const figures = Object.assign({}, ...results.map((result) => result.figures))
    const result = { machine, options, verdicts, charges, ...figures }
    writeFileSync(jsonFile, `${JSON.stringify(result, undefined, 2)}\n`)
  }
  const good =
    verdicts.every((verdict) => verdict.met) &&
    results.every(({ failed = 0 }) => failed === 0) &&
    charges.charged === charges.served
  return strict && !good ? 1 : 0
}

async function main(): Promise<number> {
  const parsed = parseOptions(process.argv.slice(2))
  if (parsed.kind === 'help') {
    console.log(help)
    return 0
  }
  if (parsed.kind === 'wrong') {
    note(`bench: ${parsed.message}; see --help`)
    return 64
  }
  if (!hasProc()) {
    note('bench: needs Linux: the CPU time of a process is read from /proc')
    return 69
  }
  const nginx = findNginx()
  if (nginx === undefined) {
    note('bench: nginx is missing, and it is the measure. Install it: apt-get install nginx')
    return 69
  }
  const { options } = parsed
  const tempDir = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  if (options.gatewayCommand === undefined && !build(join(tempDir, 'dist'))) return 70
  return runBounded({ options, nginx, tempDir, children: [] })
}

/** What packages and images hold, which starts faster and is smaller than the source. */
function build(folder: string): boolean {
  const command = [process.execPath, join(root, 'scripts/build.ts'), folder]
  const { success, stderr } = Bun.spawnSync(command, { timeout: buildMs })
  if (!success) note(`bench: the gateway cannot be built: ${stderr}`)
  process.env['MODEL_GATEWAY_DIST'] = folder
  return success
}

/** Ends the run whatever it waits for; the planned time is known before it starts. */
async function runBounded(run: Run): Promise<number> {
  const plan = planOf(run.options)
  const stopSeconds = plan.reduce((sum, part) => sum + part.seconds + spareSeconds, 0)
  const stopped = Promise.withResolvers<number>()
  const giveUp = (why: string) => {
    note(`bench: stopped: ${why}`)
    stopped.resolve(1)
  }
  setTimeout(giveUp, stopSeconds * 1000, `not done in ${stopSeconds} s`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => giveUp(signal))
  try {
    return await Promise.race([runBench(run, plan), stopped.promise])
  } catch (error) {
    note(`bench: ${(error as Error).message}`)
    return 1
  } finally {
    await stopAll(run)
    rmSync(run.tempDir, { recursive: true, force: true })
  }
}

process.exit(await main())
