import { describe, expect, test } from 'bun:test'
import type { RequestRecord } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import type { Sample } from '../../../lib/telemetry/metrics.ts'
import { type MetricName, metrics } from './families.ts'
import { Meters } from './meters.ts'

function newMeters(models: readonly string[] = ['txta-plus', 'vfa-2.7-t2v']) {
  const meters = new Meters()
  meters.isModel = (name) => models.includes(name)
  const read = (): Map<string, number> => {
    const samples: Sample[] = []
    meters.addTo(() => samples)
    return new Map(samples)
  }
  return { meters, read }
}

const record = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  requestId: 'req_1',
  atMs: 0,
  accountId: 'acc',
  tokenId: 'tok',
  interface: 'chat',
  model: 'txta-plus',
  status: 200,
  chargeNanos: 1_500_000_000n,
  totalMs: 1_200,
  detail: { stream: false, ending: 'complete', attempts: [] },
  ...more,
})

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 0 }
const attempt = { channel: 'a', afterMs: 0, ms: 5 }

describe('requests', () => {
  test('are counted by interface, model and status, with what they used and cost', () => {
    const { meters, read } = newMeters()
    meters.call(record({ usage, firstByteMs: 300 }))
    meters.call(record({ status: 499 }))
    const seen = read()
    const chat = 'interface="chat",model="txta-plus"'
    expect(seen.get(`gateway_calls_total{${chat},status="2xx"}`)).toBe(1)
    expect(seen.get(`gateway_calls_total{${chat},status="499"}`)).toBe(1)
    expect(seen.get(`gateway_calls_total{${chat},status="4xx"}`)).toBe(0)
    expect(seen.get(`gateway_call_duration_seconds_sum{${chat}}`)).toBe(2.4)
    expect(seen.get(`gateway_first_byte_seconds_bucket{${chat},le="0.25"}`)).toBe(0)
    expect(seen.get(`gateway_first_byte_seconds_bucket{${chat},le="0.5"}`)).toBe(1)
    expect(seen.get(`gateway_tokens_total{${chat},kind="input"}`)).toBe(10)
    expect(seen.get(`gateway_tokens_total{${chat},kind="cache_read"}`)).toBe(4)
    expect(seen.get(`gateway_spend_total{${chat}}`)).toBe(1.5)
  })

  test('with errors are counted by code and class; a code nobody knows is other', () => {
    const { meters, read } = newMeters()
    meters.call(record({ status: 429, errorCode: 'rate_limit_exceeded' }))
    meters.call(record({ status: 499, errorCode: 'caller_left' }))
    meters.call(record({ status: 500, errorCode: 'x"} 1\nevil' }))
    const errors = [...read().keys()].filter((name) => name.startsWith('gateway_errors_total'))
    expect(errors).toEqual([
      'gateway_errors_total{interface="chat",class="rate_limit_error",code="rate_limit_exceeded"}',
      'gateway_errors_total{interface="chat",class="other",code="caller_left"}',
      'gateway_errors_total{interface="chat",class="other",code="other"}',
    ])
  })

  test('tried several times show how often, and what of it nobody paid for', () => {
    const { meters, read } = newMeters()
    const loss = [
      { reason: 'failed_after_cost' as const, channel: 'a', nanos: '2000000000' },
      { reason: 'caller_left' as const, channel: 'a', nanos: '500000000' },
    ]
    const detail = { ...record().detail, attempts: [attempt, attempt, attempt], loss }
    meters.call(record({ detail }))
    const seen = read()
    expect(seen.get('gateway_failovers_total{interface="chat",model="txta-plus"}')).toBe(2)
    expect(seen.get('gateway_losses_total{reason="failed_after_cost"}')).toBe(2)
    expect(seen.get('gateway_losses_total{reason="caller_left"}')).toBe(0.5)
    expect(seen.get('gateway_losses_total{reason="late_success"}')).toBe(0)
  })
})

describe('labels', () => {
  const modelsIn = (seen: Map<string, number>) =>
    new Set([...seen.keys()].flatMap((name) => /model="([^"]*)"/.exec(name)?.[1] ?? []))

  test('of models are names of the catalog; a version counts as its model', () => {
    const { meters, read } = newMeters()
    for (const model of ['', 'nope', 'vfa-2.7-t2v-2026-01-31', 'nope-2026-01-31', 'txta-plus']) {
      meters.call(record({ model }))
    }
    expect(modelsIn(read())).toEqual(new Set(['other', 'vfa-2.7-t2v', 'txta-plus']))
  })

  test('cannot be made many by a caller', () => {
    const { meters, read } = newMeters()
    for (let i = 0; i < 2_000; i++) meters.call(record({ model: `m${i}`, errorCode: `c${i}` }))
    expect(modelsIn(read())).toEqual(new Set(['other']))
    expect(read().size).toBeLessThan(150)
  })

  test('are bounded also where the catalog and the channels are not', () => {
    const meters = new Meters()
    meters.isModel = () => true
    for (let i = 0; i < 1_000; i++) {
      meters.call(record({ model: `m${i}` }))
      meters.attempt(`channel-${i}`, 5)
    }
    const samples: Sample[] = []
    meters.addTo(() => samples)
    const names = samples.map(([name]) => name)
    const models = new Set(names.flatMap((name) => /model="([^"]*)"/.exec(name)?.[1] ?? []))
    const channels = new Set(names.flatMap((name) => /channel="([^"]*)"/.exec(name)?.[1] ?? []))
    expect(models.size).toBe(300)
    expect(channels.size).toBe(301)
    expect(models.has('other') && channels.has('other')).toBe(true)
    const calls = samples.filter(([name]) => /^gateway_calls_total.*2xx/.test(name))
    expect(calls.reduce((sum, [, count]) => sum + count, 0)).toBe(1_000)
  })
})

describe('tasks', () => {
  const task = (more: object): Task =>
    ({
      kind: 'video',
      interface: 'videos',
      model: 'vfa-2.7-t2v',
      state: 'succeeded',
      chargeNanos: 3_000_000_000n,
      media: [{ kind: 'video', url: 'x' }],
      request: { prompt: '', seconds: 5 },
      createdAtMs: 0,
      updatedAtMs: 61_000,
      ...more,
    }) as unknown as Task

  test('that succeed count with what they made and cost', () => {
    const { meters, read } = newMeters()
    meters.taskEnded(task({ usage: { outputSeconds: 6, videoTokens: 100 } }))
    meters.taskEnded(task({}))
    const images = [{ kind: 'image' }, { kind: 'image' }]
    meters.taskEnded(task({ kind: 'image', interface: 'images', media: images }))
    const seen = read()
    const videos = 'interface="videos",model="vfa-2.7-t2v"'
    expect(seen.get(`gateway_video_seconds_total{${videos}}`)).toBe(11)
    expect(seen.get(`gateway_tokens_total{${videos},kind="video"}`)).toBe(100)
    expect(seen.get(`gateway_spend_total{${videos}}`)).toBe(6)
    expect(seen.get('gateway_images_total{interface="images",model="vfa-2.7-t2v"}')).toBe(2)
    expect(seen.get('gateway_task_duration_seconds_bucket{interface="videos",le="60"}')).toBe(0)
    expect(seen.get('gateway_task_duration_seconds_bucket{interface="videos",le="120"}')).toBe(2)
  })

  test('that fail count as such and cost nothing', () => {
    const { meters, read } = newMeters()
    meters.taskEnded(task({ state: 'failed', chargeNanos: 0n }))
    const seen = read()
    expect(seen.get('gateway_tasks_ended_total{interface="videos",state="failed"}')).toBe(1)
    expect([...seen.keys()].some((name) => name.startsWith('gateway_spend_total'))).toBe(false)
  })
})

test('every name follows the rules of Prometheus', () => {
  for (const [name, { type }] of Object.entries(metrics)) {
    expect(name).toMatch(/^gateway_[a-z][a-z_]*$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    if (type === 'histogram') expect(name).toEndWith('_seconds')
  }
  const names = Object.keys(metrics) as MetricName[]
  expect(new Set(names.map((name) => metrics[name].help)).size).toBe(names.length)
})
