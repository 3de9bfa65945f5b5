// How much the tests notice: `scripts/bun scripts/mutate.ts [--count 20] [--seed 1] FOLDER...` plants small
// faults in the files of the folders, one at a time, `--count` of them in each folder, runs the tests that are
// nearest to the file until one fails, and prints every fault that none of them noticed, and the share that was. Nothing
// is written: a fault exists in one process only. Code that runs in threads is left alone.
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './testing/mutants.ts'

const root = resolve(import.meta.dir, '..')
const usage = 'usage: mutate.ts [--count N] [--seed N] FOLDER...'
const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { count: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
})
const count = Number(values.count)
/** Files of tests that may notice a fault, the nearest first. */
const testsTried = 6
/** A fault may make a loop endless: that is noticed too. */
const limitSeconds = 120

interface Planted extends Mutant {
  path: string
}

const isTest = (path: string) => /\.test\.tsx?$/.test(path)

async function filesIn(pattern: string): Promise<string[]> {
  return (await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: root }))).sort()
}

/** Who imports a file, directly. */
async function readImporters(): Promise<Map<string, string[]>> {
  const importers = new Map<string, string[]>()
  const named = /from '(\.[^']+)'/g
  for (const path of await filesIn('src/**/*.ts')) {
    const text = await Bun.file(join(root, path)).text()
    for (const [, target] of text.matchAll(named)) {
      const of = relative(root, resolve(root, path, '..', target!))
      importers.set(of, [...(importers.get(of) ?? []), path])
    }
  }
  return importers
}

/** The tests that reach a file over the fewest imports. */
function testsOf(path: string, importers: ReadonlyMap<string, readonly string[]>): string[] {
  const seen = new Set([path])
  const tests: string[] = []
  let ring = [path]
  while (ring.length > 0 && tests.length < testsTried) {
    const next = ring.flatMap((each) => importers.get(each) ?? []).filter((each) => !seen.has(each))
    ring = [...new Set(next)]
    for (const each of ring) seen.add(each)
    tests.push(...ring.filter(isTest))
    ring = ring.filter((each) => !isTest(each))
  }
  return tests.slice(0, testsTried)
}

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function pick<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items]
  const taken: T[] = []
  while (left.length > 0 && taken.length < count) {
    taken.push(...left.splice(Math.floor(random() * left.length), 1))
  }
  return taken
}

/** Whether one file of tests passes. */
async function passes(test: string, planted?: Planted): Promise<boolean> {
  const preloads = ['test/support/fixed-seed.ts']
  if (planted !== undefined) preloads.push('scripts/testing/with-mutant.ts')
  const flags = preloads.flatMap((file) => ['--preload', join(root, file)])
  const child = Bun.spawn(
    [process.execPath, 'test', '--bail', '--no-orphans', ...flags, `./${test}`],
    {
      cwd: root,
      stdout: 'ignore',
      stderr: 'ignore',
      timeout: limitSeconds * 1000,
      env: {
        ...process.env,
        TEST_SEED: '1',
        ...(planted && { TEST_MUTANT: JSON.stringify(planted) }),
      },
    },
  )
  return (await child.exited) === 0
}

/** What passes without a fault. */
const sound = new Map<string, Promise<boolean>>()

async function isNoticed(mutant: Planted, tests: readonly string[]): Promise<boolean> {
  for (const test of tests) {
    if (await passes(test, mutant)) continue
    let isSound = sound.get(test)
    if (isSound === undefined) {
      isSound = passes(test)
      sound.set(test, isSound)
    }
    if (await isSound) return true
  }
  return false
}

async function main(): Promise<void> {
  if (positionals.length === 0 || !(count > 0)) throw new Error(usage)
  const importers = await readImporters()
  const random = randomOf(Number(values.seed))
  let [planted, noticed] = [0, 0]
  for (const folder of positionals) {
    const paths = (await filesIn(`${folder}/**/*.ts`)).filter(
      (path) => !isTest(path) && !/worker|thread|test-/.test(path),
    )
    const all: Planted[] = []
    for (const path of paths) {
      const text = await Bun.file(join(root, path)).text()
      all.push(...mutantsOf(path, text).map((mutant) => ({ ...mutant, path })))
    }
    const tried = pick(all, random)
    let seen = 0
    for (const mutant of tried) {
      if (await isNoticed(mutant, testsOf(mutant.path, importers))) seen++
      else console.log(`${mutant.path}:${mutant.line}: ${mutant.was} -> ${mutant.becomes}`)
    }
    console.log(`${folder}: ${seen} of ${tried.length} faults noticed (of ${all.length} possible)`)
    planted += tried.length
    noticed += seen
  }
  console.log(
    `${noticed} of ${planted} faults noticed: ${((100 * noticed) / planted).toFixed(1)} %`,
  )
}

await main()
