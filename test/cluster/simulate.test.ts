// The simulation as it is run by hand and here: worlds without a violation, and the same world for the
// same seed. In processes of its own, because each takes over the time of the process it
// runs in.
import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { keptSeeds } from '../../simulation/seeds.ts'
import { testSeed, usualSeed } from '../support/seeded.ts'

const root = resolve(import.meta.dir, '../..')
const wanted = 1_000
const seeds = Number(process.env['TEST_SIMULATE_SEEDS'] ?? 20)
/** The usual run has the first ones; another TEST_SEED means other worlds. */
const from = 1 + ((Math.abs(testSeed() - usualSeed) * wanted) % 1_000_000)
const caseLimitMs = 1_500_000
if (seeds < wanted) {
  console.error(
    `left out: ${wanted - seeds} of ${wanted} simulated worlds (set TEST_SIMULATE_SEEDS=${wanted})`,
  )
}

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
    const { code, out } = await simulate('--seeds', `${seeds}`, '--from', `${from}`)
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
  const together = await digests(21, 2)
  expect(together).toHaveLength(2)
  expect(new Set(together.map((line) => line.split(' ').at(-1))).size).toBe(2)
  expect(await digests(22, 1)).toEqual(together.slice(1))
})

test.each(keptSeeds.map((kept) => [kept.seed, kept] as const))(
  'seed %d, which has found something once, finds nothing',
  async (seed, { tasks, gateways, parts = 'none', heavy }) => {
    const shape = ['--tasks', `${tasks}`, '--gateways', `${gateways}`, '--parts', parts]
    if (heavy) shape.push('--heavy')
    const { code, out } = await simulate('--seeds', '1', '--from', `${seed}`, ...shape)
    if (code !== 0) console.error(out)
    expect(code).toBe(0)
  },
  caseLimitMs,
)

test('a wrong word on the command line is told of', async () => {
  const child = Bun.spawn([process.execPath, join(root, 'simulation/main.ts'), '--bug', 'none'], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toContain('--bug takes one of: charge-before-state')
  expect(await child.exited).toBe(2)
})
