import { expect, test } from 'bun:test'
import { type Job, jobsOf, type Outcome } from './jobs.ts'
import { runAgain, runLanes } from './lanes.ts'

const jobNamed = (name: string, isWaiting = false): Job => ({ name, files: [name], isWaiting })
const outcomeOf = (job: Job, code = 0): Outcome => ({
  ...{ ...job, code, seconds: 1, cpuSeconds: 1, output: '', leftBehind: [] },
})
const alwaysOn = { isOver: () => false }
const names = (outcomes: readonly Outcome[]) => outcomes.map(({ name }) => name)

/** Jobs that end when the test says so. */
function stage() {
  const running = new Map<string, () => void>()
  const run = async (job: Job) => {
    await new Promise<void>((end) => running.set(job.name, end))
    running.delete(job.name)
    return outcomeOf(job)
  }
  const endAll = async () => {
    for (const end of running.values()) end()
    await Bun.sleep(0)
  }
  return { running, run, endAll }
}

test('long tests begin, tests beside the code share processes', () => {
  const small = Array.from({ length: 12 }, (_, at) => `src/lib/${at}.test.ts`)
  const jobs = jobsOf(['test/api/chat.test.ts', ...small, 'test/ssrf/ssrf.test.ts'])
  expect(jobs.map(({ files }) => files.length)).toEqual([1, 10, 2, 1])
  expect(jobs[0]?.name).toBe('test/ssrf/ssrf.test.ts')
})

test('lanes have a job each, one more takes what waits, and idle time takes the next', async () => {
  const { running, run, endAll } = stage()
  let idle = false
  const jobs = [jobNamed('a'), jobNamed('b'), jobNamed('c'), jobNamed('w', true), jobNamed('d')]
  const lanes = { ...alwaysOn, busy: 2, spare: 1, pollMs: 1, run, isIdle: () => idle }
  const done = runLanes(jobs, lanes)
  await Bun.sleep(20)
  expect([...running.keys()]).toEqual(['a', 'b', 'w'])
  idle = true
  while (running.size < 4) await Bun.sleep(1)
  expect([...running.keys()]).toEqual(['a', 'b', 'w', 'c'])
  while (running.size > 0) await endAll()
  expect(names(await done).toSorted()).toEqual(['a', 'b', 'c', 'd', 'w'])
})

test('a job that fails and then passes counts as passed, and is unsteady', async () => {
  const first = [outcomeOf(jobNamed('a')), outcomeOf(jobNamed('b'), 1), outcomeOf(jobNamed('c'), 1)]
  const again: string[] = []
  const run = async (job: Job) => {
    again.push(job.name)
    return outcomeOf(job, job.name === 'c' ? 1 : 0)
  }
  const { outcomes, unsteady } = await runAgain(first, { ...alwaysOn, run })
  expect(again).toEqual(['b', 'c'])
  expect(outcomes.map(({ name, code }) => [name, code])).toEqual([
    ['a', 0],
    ['b', 0],
    ['c', 1],
  ])
  expect(unsteady).toEqual([first[1]!])
})

test('a job that left a process behind runs once more, too', async () => {
  const first = outcomeOf(jobNamed('a'))
  first.leftBehind.push({ pid: 7, command: 'sleep 600' })
  const run = async (job: Job) => outcomeOf(job)
  expect(await runAgain([first], { ...alwaysOn, run })).toMatchObject({
    outcomes: [{ leftBehind: [] }],
    unsteady: [first],
  })
})

test('what many jobs fail at is no accident, and a run that was stopped starts nothing', async () => {
  const run = async (job: Job): Promise<Outcome> => {
    throw new Error(`${job.name} ran again`)
  }
  const many = Array.from({ length: 11 }, (_, at) => outcomeOf(jobNamed(`${at}`), 1))
  expect(await runAgain(many, { ...alwaysOn, run })).toEqual({ outcomes: many, unsteady: [] })
  const one = many.slice(0, 1)
  const stopped = await runAgain(one, { isOver: () => true, run })
  expect(stopped).toEqual({ outcomes: one, unsteady: [] })
})
