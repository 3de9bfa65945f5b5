// Mistakes made on purpose, each in a copy of the sources: the simulation finds them. A usual run tries one of each
// folder of the sources; each costs a process that reads all of them anew.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Bug } from '../../simulation/bugs/bug.ts'
import { bugs } from '../../simulation/bugs/bugs.ts'
import { removeCopy, tryBug } from '../../simulation/bugs/try-bug.ts'

const root = resolve(import.meta.dir, '../..')
/** From where a bug is known to be found; a change of the sources may move it, which makes this slower, not red. */
const seedsPerBug = 400
const caseLimitMs = 600_000
const wanted = 1_000
const isFull = Number(process.env['TEST_SIMULATE_SEEDS'] ?? 0) >= wanted

const folderOf = ({ edits }: Bug): string => dirname(edits[0]!.file)
const tried = bugs.filter(
  (bug, at) => isFull || bugs.findIndex((each) => folderOf(each) === folderOf(bug)) === at,
)
if (!isFull) {
  console.error(
    `left out: ${bugs.length - tried.length} of ${bugs.length} mistakes made on purpose (set TEST_SIMULATE_SEEDS=${wanted})`,
  )
}

describe('mistakes made on purpose', () => {
  afterAll(removeCopy)

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
    const outcome = await tryBug(
      { name: 'none', why: '', known: { seeds: [] }, edits },
      { seeds: 1 },
    )
    expect(outcome.foundBySeed).toBeUndefined()
    expect(outcome.what).toContain('nobody wrote this')
  })

  test.each(tried.map((bug) => [bug.name, bug] as const))(
    '%s is found',
    async (_, bug) => {
      const { foundBySeed, what } = await tryBug(bug, { seeds: seedsPerBug })
      if (foundBySeed === undefined) console.error(what)
      expect(foundBySeed).toBeDefined()
      if (!bug.known.seeds.includes(foundBySeed!)) {
        console.error(`simulation/bugs/bug.ts: ${bug.name} is found by seed ${foundBySeed} now`)
      }
    },
    caseLimitMs,
  )
})
