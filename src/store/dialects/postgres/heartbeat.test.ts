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
    silent: () => reply.push('silent'),
    stuck: () => reply.push('stuck'),
    lost: () => reply.push('lost'),
  })
  return { heartbeat, reply, asked }
}

test('a question without an answer is silence, then a loss, each told once', async () => {
  const { heartbeat, reply, asked } = watched()
  heartbeat.start()
  await until(() => reply.includes('lost'))
  expect([reply, asked.length]).toEqual([['silent', 'lost'], 1])
  asked[0]!.reject(new Error('gone'))
  await until(() => asked.length === 2)
  asked[1]!.resolve()
  await until(() => asked.length === 3)
  expect(reply).toEqual(['silent', 'lost'])
  heartbeat.stop()
})

test('answers in time are no silence, and a batch that takes long is told apart', async () => {
  const { heartbeat, reply, asked } = watched()
  heartbeat.start()
  const batch = Promise.withResolvers<void>()
  const done = heartbeat.during(batch.promise)
  await until(() => {
    asked.at(-1)?.resolve()
    return reply.length > 0
  })
  expect(reply).toEqual(['stuck'])
  batch.resolve()
  await done
  heartbeat.stop()
})
