import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SharedCores, WorkerThread } from './worker-thread.ts'

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

test('threads that share a core take turns, and go on when one of them fails or cannot begin', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'worker-thread-'))
  const script = join(folder, 'log.js')
  writeFileSync(
    script,
    `import { appendFileSync } from 'node:fs'
    self.onmessage = async ({ data }) => {
      appendFileSync(data.file, 'begin ' + data.name + '\\n')
      if (data.name === 'bad') throw new Error('odd')
      await Bun.sleep(20)
      appendFileSync(data.file, 'end ' + data.name + '\\n')
      self.postMessage(data)
    }`,
  )
  const file = join(folder, 'log')
  const cores = new SharedCores(1)
  const [one, two] = ['one', 'two'].map(
    (name) => new WorkerThread<object, object>(() => script, name, cores),
  )
  const run = (thread: WorkerThread<object, object>, name: string) =>
    thread.run('', { file, name, ...(name === 'unsendable' && { give: () => 1 }) }).catch(() => {})
  await Promise.all([
    run(one!, 'a1'),
    run(one!, 'a2'),
    run(two!, 'bad'),
    run(two!, 'unsendable'),
    run(two!, 'b1'),
  ])
  const order = ['begin a1', 'end a1', 'begin bad', 'begin a2', 'end a2', 'begin b1', 'end b1']
  expect(readFileSync(file, 'utf8').trim().split('\n')).toEqual(order)
  rmSync(folder, { recursive: true })
})
