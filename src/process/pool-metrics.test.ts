// Sums over workers that answer, are late, end and are replaced: a counter never decreases.
import { describe, expect, test } from 'bun:test'
import type { Family } from '../lib/telemetry/metrics.ts'
import { PoolMetrics } from './pool-metrics.ts'

interface FakeWorker {
  calls: number
  isDeaf?: boolean
}

const familiesOf = (calls: number): Family[] => [
  { name: 'x_total', help: '', type: 'counter', across: 'sum', samples: [['x_total', calls]] },
  { name: 'busy', help: '', type: 'gauge', across: 'sum', samples: [['busy', 1]] },
]

function newPool(...workers: FakeWorker[]) {
  const pool = new Set(workers)
  const asked: FakeWorker[] = []
  const metrics: PoolMetrics<FakeWorker> = new PoolMetrics(
    () => pool,
    (worker) => {
      asked.push(worker)
      if (!worker.isDeaf) queueMicrotask(() => metrics.record(worker, familiesOf(worker.calls)))
    },
  )
  const read = async () =>
    Object.fromEntries((await metrics.read()).flatMap(({ samples }) => samples))
  return { pool, metrics, asked, read }
}

describe('the numbers of a crew', () => {
  test('are the sums over all workers', async () => {
    const { read } = newPool({ calls: 3 }, { calls: 4 })
    expect(await read()).toEqual({ x_total: 7, busy: 2 })
  })

  test('take the last word of a worker that does not answer in time', async () => {
    const slow: FakeWorker = { calls: 4 }
    const { read } = newPool({ calls: 3 }, slow)
    await read()
    Object.assign(slow, { calls: 100, isDeaf: true })
    expect(await read()).toEqual({ x_total: 7, busy: 2 })
  })

  test('keep what a worker had counted after it has ended, and forget how it was', async () => {
    const gone = { calls: 4 }
    const { read, pool, metrics } = newPool({ calls: 3 }, gone)
    await read()
    pool.delete(gone)
    metrics.left(gone)
    expect(await read()).toEqual({ x_total: 7, busy: 1 })
    pool.add({ calls: 2 })
    expect(await read()).toEqual({ x_total: 9, busy: 2 })
  })

  test('are asked for once by those who ask at the same time', async () => {
    const { metrics, asked } = newPool({ calls: 1 })
    const [a, b] = await Promise.all([metrics.read(), metrics.read()])
    expect(a).toBe(b)
    expect(asked).toHaveLength(1)
  })

  test('do not wait for a worker that ends while it is asked', async () => {
    const dying: FakeWorker = { calls: 4, isDeaf: true }
    const { metrics, pool } = newPool({ calls: 3 }, dying)
    const reading = metrics.read()
    pool.delete(dying)
    metrics.left(dying)
    expect((await reading)[0]!.samples).toEqual([['x_total', 3]])
  })
})
