// Mistakes made on purpose, each in a copy of the sources: the simulation finds every one of them.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bugs } from '../../simulation/bugs/bugs.ts'
import { removeCopy, tryBug } from '../../simulation/bugs/try-bug.ts'

const root = resolve(import.meta.dir, '../..')
/** From where a bug is known to be found; a change of the sources may move it. */
const seedsPerBug = 100
const caseLimitMs = 600_000

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
