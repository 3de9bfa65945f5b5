// The simulation as it is run by hand and here: a thousand worlds without a violation, the same world for
// the same seed, and every mistake of the list found. In processes of its own, because each takes over
// the time of the process it runs in.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bugs } from '../simulation/bugs.ts'
import { keptSeeds } from '../simulation/seeds.ts'
import { tryBug } from '../simulation/try-bug.ts'

const root = resolve(import.meta.dir, '..')
const seeds = 1_000
/** From where a bug is known to be found; a change of the sources may move it. */
const seedsPerBug = 100
const caseLimitMs = 600_000

async function simulate(...args: string[]): Promise<{ code: number; out: string }> {
  const child = Bun.spawn([process.execPath, join(root, 'simulation/main.ts'), ...args], {
    cwd: root,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const out = await child.stdout.text()
  return { code: await child.exited, out }
}

test(
  `${seeds} seeds without a violation`,
  async () => {
    const { code, out } = await simulate('--seeds', `${seeds}`)
    if (code !== 0) console.error(out)
    expect(out).toContain(`${seeds} seeds, `)
    expect(out).toContain('no violation')
    expect(code).toBe(0)
  },
  caseLimitMs,
)

test('the same seed is the same world, alone and among others', async () => {
  const digests = async (from: number, count: number) => {
    const { out } = await simulate('--from', `${from}`, '--seeds', `${count}`, '--digests')
    return out.split('\n').filter((line) => /^seed \d+ digest [0-9a-f]{16}$/.test(line))
  }
  const together = await digests(21, 3)
  expect(together).toHaveLength(3)
  expect(new Set(together.map((line) => line.split(' ').at(-1))).size).toBe(3)
  expect(await digests(23, 1)).toEqual(together.slice(2))
  expect(await digests(21, 3)).toEqual(together)
}, 120_000)

test.each(keptSeeds.map((kept) => [kept.seed, kept] as const))(
  'seed %d, which has found something once, finds nothing',
  async (seed, { tasks, gateways }) => {
    const shape = ['--tasks', `${tasks}`, '--gateways', `${gateways}`]
    const { code, out } = await simulate('--seeds', '1', '--from', `${seed}`, ...shape)
    if (code !== 0) console.error(out)
    expect(code).toBe(0)
  },
  caseLimitMs,
)

describe('mistakes made on purpose', () => {
  test('are words of the sources, each of them once', () => {
    const wrong = bugs.flatMap(({ name, edits }) =>
      edits
        .filter(({ file, find }) => {
          const text = readFileSync(join(root, file), 'utf8')
          return text.split(find).length !== 2
        })
        .map(({ file }) => `${name}: ${file}`),
    )
    expect(wrong).toEqual([])
  })

  test('that are not to be found in the sources are told of, not passed over', async () => {
    const edits = [{ file: 'src/billing/ledger.ts', find: 'nobody wrote this', replace: '' }]
    const tried = await tryBug({ name: 'none', why: '', knownSeed: 1, edits }, { seeds: 1 })
    expect(tried.foundAfterSeeds).toBeUndefined()
    expect(tried.what).toContain('nobody wrote this')
  })

  test.each(bugs.map((bug) => [bug.name, bug] as const))(
    '%s is found',
    async (_, bug) => {
      const { foundAfterSeeds, what } = await tryBug(bug, { seeds: seedsPerBug })
      if (foundAfterSeeds === undefined) console.error(what)
      expect(foundAfterSeeds).toBeLessThanOrEqual(seedsPerBug)
    },
    caseLimitMs,
  )
})

test('a wrong word on the command line is told of', async () => {
  const child = Bun.spawn([process.execPath, join(root, 'simulation/main.ts'), '--bug', 'none'], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toContain('--bug takes one of: charge-before-state')
  expect(await child.exited).toBe(2)
})
