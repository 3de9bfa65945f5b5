import { expect, test } from 'bun:test'
import { FairSemaphore } from './fair-semaphore.ts'

const limits = { concurrency: 2, queue: 6, queuePerKey: 4 }

/** Work that ends when it is told to, and says when it began. */
function gate() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
  }
  const end = async (name: string) => {
    ends.get(name)!()
    await Bun.sleep(0)
  }
  return { begun, work, end }
}

test('only so many run at once, and the others take turns by key', async () => {
  const semaphore = new FairSemaphore(limits)
  const { begun, work, end } = gate()
  const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2']
  const all = names.map((name) => semaphore.run(name[0]!, work(name)))
  expect(begun).toEqual(['a1', 'a2'])
  for (const name of ['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5']) await end(name)
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5'])
  expect(await Promise.all(all)).toEqual(names)
})

test('a key with too many waiting is turned away, and all are when the queue is full', async () => {
  const semaphore = new FairSemaphore(limits)
  const { begun, work, end } = gate()
  const all = Array.from({ length: 7 }, (_, i) => semaphore.run('a', work(`a${i}`)))
  expect(await all[6]).toBeUndefined()
  const others = ['b', 'c', 'd'].map((key) => semaphore.run(key, work(key)))
  expect(await others[2]).toBeUndefined()
  for (let i = 0; i < begun.length; i++) await end(begun[i]!)
  expect(begun).toHaveLength(8)
  expect((await Promise.all(all)).filter((each) => each !== undefined)).toHaveLength(6)
})

test('work that fails leaves its place', async () => {
  const semaphore = new FairSemaphore({ ...limits, concurrency: 1 })
  const failing = () => Promise.reject(new Error('no'))
  for (let i = 0; i < 3; i++) await expect(semaphore.run('a', failing)).rejects.toThrow('no')
  expect(await semaphore.run('a', async () => 'yes')).toBe('yes')
})
