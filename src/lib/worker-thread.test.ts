import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkerThread } from './worker-thread.ts'

test('keys take turns: many jobs of one keep another waiting for one at most', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'worker-thread-'))
  const script = join(folder, 'echo.js')
  writeFileSync(script, 'self.onmessage = ({ data }) => self.postMessage(data)')
  const thread = new WorkerThread<{ name: string }, { name: string }>(() => script, 'a test')
  const order: string[] = []
  const run = async (key: string, name: string): Promise<void> => {
    order.push((await thread.run(key, { name })).name)
  }
  await Promise.all([
    ...[1, 2, 3, 4].map((at) => run('a', `a${at}`)),
    run('b', 'b1'),
    run('c', 'c1'),
    run('b', 'b2'),
  ])
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  rmSync(folder, { recursive: true })
})

test('a job that fails is rejected, and the next has a new thread', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'worker-thread-'))
  const script = join(folder, 'odd.js')
  writeFileSync(
    script,
    "self.onmessage = ({ data }) => { if (data.name === 'bad') throw new Error('odd'); self.postMessage(data) }",
  )
  const thread = new WorkerThread<{ name: string }, { name: string }>(() => script, 'a test')
  const bad = thread.run('a', { name: 'bad' })
  const good = thread.run('a', { name: 'good' })
  await expect(bad).rejects.toThrow('the thread for a test failed')
  expect(await good).toEqual({ name: 'good' })
  rmSync(folder, { recursive: true })
})
