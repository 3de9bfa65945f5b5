// Runs the scenarios once for every operation of the disk, which fails in that run. Prints a line for each violation
// and a summary; exits with 1 if there was one. Without `--full`, of operations with the same name the first.
import { dlopen, FFIType } from 'bun:ffi'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assets } from '../../src/lib/assets.ts'
import {
  failAt,
  hasFailed,
  installFaults,
  shareFaults,
  type Way,
  wantCopies,
  ways,
} from './faulty-disk.ts'
import { losePower } from './power-cut.ts'
import { Life, Violation } from './scenario.ts'

const work = mkdtempSync(join(tmpdir(), 'gateway-disk-'))
const trace = join(work, 'trace')
const copies = join(work, 'copies')
const runLimitMs = 30_000
/** Of each part, without `--full`. */
const maxFaults = 6
const isFull = process.argv.includes('--full')
/** `--max 60`: of the calls of SQLite so many of each kind, drawn by `--seed`; with `--full` alone all of them. */
const maxOfKind = Number(optionOf('--max') ?? (isFull ? Number.POSITIVE_INFINITY : 1))
const seed = optionOf('--seed') ?? '1'
/** `--only journal`: operations with this in their name. */
const only = optionOf('--only') ?? ''

/** What follows it on the command line. */
function optionOf(name: string): string | undefined {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}

type Day = (life: Life) => Promise<void>
const firstDay: Day = (life) => life.firstDay()
const everyDay: Day = (life) => life.everyDay()

async function run(
  from: string | undefined,
  day: Day,
  damage: (dir: string) => void = () => {},
  mayFail = hasFailed,
): Promise<string | undefined> {
  const dir = join(work, 'data')
  rmSync(dir, { recursive: true, force: true })
  if (from !== undefined) cpSync(from, dir, { recursive: true })
  damage(dir)
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Violation('it hangs')), runLimitMs).unref()
  })
  try {
    await Promise.race([day(new Life(dir, mayFail)), late])
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

/** What has failed before, and as many others as a run of the tests has time for. */
function someOf<Fault extends { what: string }>(faults: readonly Fault[]): readonly Fault[] {
  if (isFull || only !== '') return faults
  const step = Math.ceil(faults.length / maxFaults)
  return faults.filter(({ what }, i) => i % step === 0 || /checkpoint|master\.key/.test(what))
}

async function tryAll(name: string, from: string | undefined, day: Day): Promise<number> {
  writeFileSync(trace, '')
  failAt(0, 'refused')
  const clean = await run(from, day)
  if (clean !== undefined) throw new Error(`${name}, without a fault: ${clean}`)
  const lines = readFileSync(trace, 'utf8').trim().split('\n')
  const all = chosenOf(lines).flatMap(({ number, what }) =>
    waysFor(what).map((way) => ({ number, what, way })),
  )
  const chosen = someOf(all)
  let violations = 0
  for (const { number, what, way } of chosen) {
    failAt(number, way)
    const found = await run(from, day)
    if (found === undefined) continue
    violations++
    console.log(`${name}: operation ${number} (${what}) ${way}: ${found}`)
  }
  console.log(
    `${name}: ${lines.length} operations, ${chosen.length} faults, ${violations} violations`,
  )
  return violations
}

/** At each operation on a file of the first start: the next one finds what was on the disk. */
async function cutPower(): Promise<number> {
  writeFileSync(trace, '')
  failAt(0, 'refused')
  wantCopies(true)
  let tried: ReadonlySet<string> = new Set()
  const clean = await run(undefined, async (life) => {
    tried = await life.firstHour()
  })
  wantCopies(false)
  if (clean !== undefined) throw new Error(`without a power cut: ${clean}`)
  const operations = readFileSync(trace, 'utf8').trim().split('\n')
  const done = operations.map((line) => line.replace(/^\d+ /, ''))
  let [violations, cuts] = [0, 0]
  for (const { number, what } of someOf(chosenOf(operations))) {
    const copy = join(copies, String(number))
    if (!existsSync(copy)) continue
    for (const keepsNames of [true, false]) {
      const before = done.slice(0, number - 1)
      // A batch that was appended may have been answered.
      const isAnswered = before.slice(0, -1).some((line) => line.startsWith('append '))
      const found = await run(
        copy,
        (life) => life.after(isAnswered ? [...tried] : [], tried),
        (dir) => losePower(dir, before, keepsNames),
      )
      cuts++
      if (found === undefined) continue
      violations++
      const names = keepsNames ? 'with new names' : 'without new names'
      console.log(`power cut before operation ${number} (${what}), ${names}: ${found}`)
    }
  }
  console.log(`power cuts: ${cuts}, ${violations} violations`)
  return violations
}

/** So many of each kind, each as likely as any other. */
function drawnOf(numbers: readonly number[], kindOf: (number: number) => number): number[] {
  const place = (number: number) => Bun.hash(`${seed} ${number}`)
  return [...Map.groupBy(numbers, kindOf).values()].flatMap((ofKind) =>
    ofKind.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)).slice(0, maxOfKind),
  )
}

/** `--calls`: calls of SQLite itself, by this library, which must be preloaded into the process. */
async function tryCalls(library: string, from: string): Promise<number> {
  const { symbols } = dlopen(library, {
    fail_at: { args: [FFIType.i32], returns: FFIType.void },
    count: { args: [], returns: FFIType.i32 },
    kind_of: { args: [FFIType.i32], returns: FFIType.i32 },
  })
  const isReached = (number: number) => () => number > 0 && symbols.count() >= number
  symbols.fail_at(0)
  const clean = await run(from, everyDay)
  const calls = symbols.count()
  if (clean !== undefined || calls === 0) throw new Error(`without a fault: ${clean}, ${calls}`)
  const numbers = Array.from({ length: calls }, (_, at) => at + 1)
  const chosen = drawnOf(numbers, symbols.kind_of)
  let [violations, runs] = [0, 0]
  for (const number of chosen) {
    symbols.fail_at(number)
    const found = await run(from, everyDay, undefined, isReached(number))
    runs++
    if (found === undefined) continue
    violations++
    console.log(`call ${number} of SQLite: ${found}`)
  }
  console.log(`calls of SQLite: ${calls}, ${runs} faults, ${violations} violations`)
  return violations
}

const built = await Bun.build({
  entrypoints: [join(import.meta.dir, 'faulty-thread.ts')],
  target: 'bun',
  outdir: work,
})
assets.databaseThread = built.outputs[0]!.path
shareFaults({ trace, dir: join(work, 'data'), copies })
installFaults()
try {
  const older = join(work, 'older')
  failAt(0, 'refused')
  await run(undefined, (life) => life.quietDay())
  cpSync(join(work, 'data'), older, { recursive: true })
  const library = optionOf('--calls')
  const violations =
    library === undefined
      ? (await tryAll('first day', undefined, firstDay)) +
        (await tryAll('every day', older, everyDay)) +
        (await cutPower())
      : await tryCalls(library, older)
  process.exitCode = violations === 0 ? 0 : 1
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exit()
