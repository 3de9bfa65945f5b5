// Users of the `openai` package who leave, whose time is up, and what the package tries again by
// itself: over every upstream at the same time, because all of it takes time.
import { describe, expect, test } from 'bun:test'
import { nanos, type RequestRow, rowOf, until } from '../support/read.ts'
import { tries } from './failures.ts'
import { type Client, clientOf, failureOf, type OpenAIPackage, says } from './openai-client.ts'
import { type Over, overs, type Stage, thrownBy } from './stage.ts'

const overAll = (work: (over: Over) => Promise<void>) => Promise.all(overs.map(work))

const chat = (model: string, content: string) => ({ model, messages: says(content) })
const streams = {
  chat: (client: Client, model: string, content: string) =>
    client.chat.completions.create({ ...chat(model, content), stream: true }).withResponse(),
  responses: (client: Client, model: string, input: string) =>
    client.responses.create({ model, input, stream: true }).withResponse(),
}

export function describeLeaving(sdk: OpenAIPackage, stage: Stage): void {
  describe('a call over every upstream', () => {
    test.each(Object.entries(streams))('can be left half-way in %s, and is paid for', (_, open) =>
      overAll(async ({ model }) => {
        const content = '[[sim:tokens=50]] [[sim:chunk=40ms]]'
        const { data: stream, request_id } = await open(clientOf(sdk, stage), model, content)
        let seen = 0
        for await (const _ of stream) if (++seen === 6) stream.controller.abort()
        expect(seen).toBeLessThan(50)
        const row = await rowOf(stage.gateway, request_id!)
        expect([row.ending, row.usage?.output_tokens]).toEqual(['caller_left', 50])
      }),
    )

    test('can be given up before it answers, and costs nothing', async () => {
      const before = await stage.calls()
      await overAll(async ({ model }) => {
        const leaving = new AbortController()
        const asked = clientOf(sdk, stage).chat.completions.create(
          chat(model, '[[sim:delay=900ms]]'),
          { signal: leaving.signal },
        )
        const failure = failureOf(sdk, () => asked)
        await until('the calls upstream', async () =>
          (await stage.calls()) >= before + overs.length ? true : undefined,
        )
        leaving.abort()
        expect(await failure).toBeInstanceOf(sdk.APIUserAbortError)
        const row = await until('the row of a call that was given up', async () => {
          const { body } = await stage.gateway.admin('GET', `/requests?model=${model}&limit=1`)
          const [newest] = (body as { items: RequestRow[] }).items
          return newest?.ending === 'caller_left' && !newest.stream ? newest : undefined
        })
        expect(nanos(row.charge)).toBeGreaterThan(0n)
      })
    })

    test("ends with the SDK's own time limit", () =>
      overAll(async ({ model }) => {
        const client = clientOf(sdk, stage, { timeout: 100 })
        const error = await thrownBy(() =>
          client.chat.completions.create(chat(model, '[[sim:delay=900ms]]')),
        )
        expect(error).toBeInstanceOf(sdk.APIConnectionTimeoutError)
      }))

    test('is a 504 when the upstream does not answer in time', () =>
      overAll(async ({ model }) => {
        const error = await failureOf(sdk, () =>
          clientOf(sdk, stage).responses.create({ model, input: '[[sim:hang]]' }),
        )
        expect(error).toBeInstanceOf(sdk.InternalServerError)
        expect([error.status, error.code]).toEqual([504, 'upstream_timeout'])
      }))

    test.each(tries)('is tried again after %s (%s): %d calls upstream', async (_, how, wanted) => {
      const client = clientOf(sdk, stage, { maxRetries: 1 })
      const calls = await stage.countCalls(() =>
        overAll(async ({ model }) => {
          await failureOf(sdk, () => client.chat.completions.create(chat(model, `[[sim:${how}]]`)))
        }),
      )
      expect(calls).toBe(wanted * overs.length)
    })
  })
}
