// Runs the scenarios once for every operation of the disk, which fails in that run. Prints a line for each violation
// and a summary; exits with 1 if there was one. Without `--full`, of
// operations with the same name the first.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assets } from '../../src/lib/assets.ts'
import { failAt, hasFailed, installFaults, shareFaults, type Way, ways } from './faulty-disk.ts'
import { Life, Violation } from './scenario.ts'

const work = mkdtempSync(join(tmpdir(), 'gateway-disk-'))
const trace = join(work, 'trace')
const runLimitMs = 30_000
const isFull = process.argv.includes('--full')
/** `--only journal`: operations with this in their name. */
const only = process.argv[process.argv.indexOf('--only') + 1 || Infinity] ?? ''

type Day = (life: Life) => Promise<void>
const firstDay: Day = (life) => life.firstDay()
const everyDay: Day = (life) => life.everyDay()

async function run(from: string | undefined, day: Day): Promise<string | undefined> {
  const dir = join(work, 'data')
  rmSync(dir, { recursive: true, force: true })
  if (from !== undefined) cpSync(from, dir, { recursive: true })
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Violation('it hangs')), runLimitMs).unref()
  })
  try {
    await Promise.race([day(new Life(dir, hasFailed)), late])
    return undefined
  } catch (error) {
    return error instanceof Violation ? error.message : (error as Error).stack
  }
}

/** Ways in which an operation can fail: those that differ for it. */
function waysFor(what: string): readonly Way[] {
  if (/^(write|append) /.test(what)) return ways
  if (!/^sql COMMIT|^(link|rename|mkdir) /.test(what)) return ['refused']
  return ways.filter((way) => way !== 'half done')
}

interface Operation {
  number: number
  what: string
}

/** The first of each kind, and with `--full` all of them. */
function chosenOf(lines: readonly string[]): Operation[] {
  const all = lines.map((line) => {
    const [, number, what] = /^(\d+) (.*)$/.exec(line)!
    return { number: Number(number), what: what! }
  })
  const wanted = all.filter(({ what }) => what.includes(only))
  if (isFull) return wanted
  const kindOf = ({ what }: Operation) => what.replaceAll(/\d+/g, '')
  return [...Map.groupBy(wanted, kindOf).values()].map(([first]) => first!)
}

async function tryAll(name: string, from: string | undefined, day: Day): Promise<number> {
  writeFileSync(trace, '')
  failAt(0, 'refused')
  const clean = await run(from, day)
  if (clean !== undefined) throw new Error(`${name}, without a fault: ${clean}`)
  const lines = readFileSync(trace, 'utf8').trim().split('\n')
  const chosen = chosenOf(lines)
  let violations = 0
  let runs = 0
  for (const { number, what } of chosen) {
    for (const way of waysFor(what)) {
      failAt(number, way)
      const found = await run(from, day)
      runs++
      if (found === undefined) continue
      violations++
      console.log(`${name}: operation ${number} (${what}) ${way}: ${found}`)
    }
  }
  console.log(`${name}: ${lines.length} operations, ${runs} faults, ${violations} violations`)
  return violations
}

const built = await Bun.build({
  entrypoints: [join(import.meta.dir, 'faulty-thread.ts')],
  target: 'bun',
  outdir: work,
})
assets.databaseThread = built.outputs[0]!.path
shareFaults(trace)
installFaults()
try {
  let violations = await tryAll('first day', undefined, firstDay)
  const older = join(work, 'older')
  failAt(0, 'refused')
  await run(undefined, (life) => life.quietDay())
  cpSync(join(work, 'data'), older, { recursive: true })
  violations += await tryAll('every day', older, everyDay)
  process.exitCode = violations === 0 ? 0 : 1
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exit()
