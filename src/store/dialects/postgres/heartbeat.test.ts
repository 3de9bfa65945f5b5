// A database that says nothing is noticed, and one that is only asked nothing is not suspected.
import { expect, test } from 'bun:test'
import { until } from '../../test-stores.ts'
import { Pulse } from './heartbeat.ts'

function watched() {
  const heard: string[] = []
  const asked: PromiseWithResolvers<void>[] = []
  const pulse = new Pulse({
    ask() {
      const question = Promise.withResolvers<void>()
      asked.push(question)
      return question.promise
    },
    silent: () => heard.push('silent'),
    stuck: () => heard.push('stuck'),
    lost: () => heard.push('lost'),
  })
  return { pulse, heard, asked }
}

test('a question without an answer is silence, then a loss, each told once', async () => {
  const { pulse, heard, asked } = watched()
  pulse.start()
  await until(() => heard.includes('lost'))
  expect([heard, asked.length]).toEqual([['silent', 'lost'], 1])
  asked[0]!.reject(new Error('gone'))
  await until(() => asked.length === 2)
  asked[1]!.resolve()
  await until(() => asked.length === 3)
  expect(heard).toEqual(['silent', 'lost'])
  pulse.stop()
})

test('answers in time are no silence, and a batch that takes long is told apart', async () => {
  const { pulse, heard, asked } = watched()
  pulse.start()
  const batch = Promise.withResolvers<void>()
  const done = pulse.during(batch.promise)
  await until(() => {
    asked.at(-1)?.resolve()
    return heard.length > 0
  })
  expect(heard).toEqual(['stuck'])
  batch.resolve()
  await done
  pulse.stop()
})
