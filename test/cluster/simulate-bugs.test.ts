// Mistakes made on purpose, each in a copy of the sources: the simulation finds every one of them.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bugs } from '../../simulation/bugs/bugs.ts'
import { removeCopy, tryBug } from '../../simulation/bugs/try-bug.ts'

// For the simulations: what the last compiler and a second collector gain there is less than they cost.
Object.assign(process.env, { BUN_JSC_useFTLJIT: '0', BUN_JSC_numberOfGCMarkers: '1' })

const root = resolve(import.meta.dir, '../..')
/** From where a bug is known to be found; a change of the sources may move it, which makes this slower, not red. */
const seedsPerBug = 400
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
    const tried = await tryBug({ name: 'none', why: '', known: { seeds: [] }, edits }, { seeds: 1 })
    expect(tried.foundBySeed).toBeUndefined()
    expect(tried.what).toContain('nobody wrote this')
  })

  test.each(bugs.map((bug) => [bug.name, bug] as const))(
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
