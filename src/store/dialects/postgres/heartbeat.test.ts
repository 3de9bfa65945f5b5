// A database that says nothing is noticed, and one that is only asked nothing is not suspected.
import { expect, test } from 'bun:test'
import { until } from '../../test-stores.ts'
import { Heartbeat } from './heartbeat.ts'

function watched() {
  const reply: string[] = []
  const asked: PromiseWithResolvers<void>[] = []
  const heartbeat = new Heartbeat({
    ask() {
      const question = Promise.withResolvers<void>()
      asked.push(question)
      return question.promise
    },
    slow: () => reply.push('slow'),
    answered: () => reply.push('answered'),
    silent: () => reply.push('silent'),
    slowBatch: (what) => reply.push(`slow ${what}`),
    stuck: (what) => reply.push(`stuck ${what}`),
    lost: () => reply.push('lost'),
  })
  return { heartbeat, reply, asked }
}

test('a question without an answer is silence, then a loss, each told once', async () => {
  const { heartbeat, reply, asked } = watched()
  heartbeat.start()
  await until(() => reply.includes('lost'))
  expect([reply, asked.length]).toEqual([['slow', 'silent', 'lost'], 1])
  asked[0]!.reject(new Error('gone'))
  await until(() => asked.length === 2)
  asked[1]!.resolve()
  await until(() => asked.length === 3)
  expect(reply).toEqual(['slow', 'silent', 'lost', 'answered'])
  heartbeat.stop()
})

test('an answer that comes late is slow, and no silence', async () => {
  const { heartbeat, reply, asked } = watched()
  heartbeat.start()
  await until(() => reply.includes('slow'))
  asked[0]!.resolve()
  await until(() => asked.length === 2)
  expect(reply).toEqual(['slow', 'answered'])
  heartbeat.stop()
})

test('answers in time are no silence, and a batch that takes long is told apart', async () => {
  const { heartbeat, reply, asked } = watched()
  heartbeat.start()
  const batch = Promise.withResolvers<void>()
  const done = heartbeat.during('a batch', batch.promise)
  await until(() => {
    asked.at(-1)?.resolve()
    return reply.length > 1
  })
  expect(reply).toEqual(['slow a batch', 'stuck a batch'])
  batch.resolve()
  await done
  heartbeat.stop()
})
