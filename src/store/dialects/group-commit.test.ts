// Which records share a batch.
import { expect, test } from 'bun:test'
import { aRequest } from '../test-stores.ts'
import { GroupCommit } from './group-commit.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Batches wait at `gates` once they are being written. */
function newCommit() {
  const sizes: number[] = []
  const gates: (() => void)[] = []
  const commit = new GroupCommit(({ size }) => {
    sizes.push(size)
    return new Promise((resolve) => gates.push(resolve))
  })
  const add = (count: number) => {
    for (let i = 0; i < count; i++) void commit.add(aRequest())
  }
  return { commit, sizes, gates, add }
}

test('a record by itself is written in the next turn of the event loop', async () => {
  const { sizes, add } = newCommit()
  add(1)
  expect(sizes).toEqual([])
  await turn()
  expect(sizes).toEqual([1])
})

test('records that come in a few turns share a batch, and wait for no others', async () => {
  const { sizes, add } = newCommit()
  for (let i = 0; i < 3; i++) {
    add(2)
    await turn()
  }
  for (let i = 0; i < 5; i++) await turn()
  expect(sizes).toEqual([6])
})

test('a batch that is large enough does not wait', async () => {
  const { sizes, add } = newCommit()
  add(64)
  await turn()
  expect(sizes).toEqual([64])
})

test('what comes while a batch is written is the next, of 512 records at most', async () => {
  const { commit, sizes, gates, add } = newCommit()
  add(1)
  await turn()
  add(600)
  for (let i = 0; i < 10; i++) await turn()
  expect(sizes).toEqual([1])
  gates[0]!()
  while (gates.length < 2) await turn()
  gates[1]!()
  while (gates.length < 3) await turn()
  gates[2]!()
  await commit.close()
  expect(sizes).toEqual([1, 512, 88])
  expect(commit.commits.records).toBe(601)
})
