// Two gateways on one database run batches at once: no line is sent or charged twice, and those of a gateway
// that is killed are run by the other.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'
import { answersIn, BatchClient, line } from './client.ts'

const config = (chat: string) => `
accounts: [{ name: acme, balance: "1000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
models: [{ name: plain, kind: text, interfaces: [chat] }]
prices: [{ model: plain, unit: token, per_million: { input: "1000", output: "1000" } }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${chat}" }
    models: { plain: up }
`

const masterKey = Buffer.alloc(32, 7).toString('base64')
const lineCount = 120
const linesOf = (name: string) =>
  Array.from({ length: lineCount }, (_, n) => line(n, `${name} ${n}.`, { max_tokens: 5 }))

if (!storeKinds.includes('postgres')) {
  console.error('left out: batches of two gateways (set TEST_POSTGRES_URL)')
} else {
  describe('batches of two gateways', () => {
    let place: Place
    let upstream: TestUpstream
    let gateways: TestGateway[]

    const start = () =>
      startGateway({
        config: config(upstream.chat),
        env: { GATEWAY_DATABASE_URL: place.options.databaseUrl!, GATEWAY_MASTER_KEY: masterKey },
      })

    beforeAll(async () => {
      upstream = startUpstream(async () => {
        await Bun.sleep(10)
        return jsonReply(completion({ prompt_tokens: 5, completion_tokens: 5 }))
      })
      place = await newPlace('postgres')
      gateways = [await start(), await start()]
    })
    afterAll(async () => {
      for (const gateway of gateways) await gateway.stop('SIGKILL')
      await upstream.stop()
      await place.remove()
    })

    const clientAt = (at: number) => new BatchClient(gateways[at]!.url, apiToken)
    const sent = (name: string) =>
      upstream.calls.flatMap(({ body }) => new RegExp(`${name} \\d+\\.`).exec(body)?.[0] ?? [])

    async function charged(): Promise<string[]> {
      const ids: string[] = []
      for (let cursor = ''; ; ) {
        const path = `/accounts/acme/ledger?limit=500${cursor}`
        const { body } = await gateways[1]!.admin('GET', path)
        for (const { kind, request_id } of body.items) if (kind === 'charge') ids.push(request_id)
        if (body.next_cursor == null) return ids
        cursor = `&cursor=${body.next_cursor}`
      }
    }

    test('send and charge each line once', async () => {
      const names = ['red', 'green', 'blue', 'grey']
      const made = await Promise.all(names.map((name, n) => clientAt(n % 2).start(linesOf(name))))
      const answered: string[] = []
      for (const [n, { id }] of made.entries()) {
        // Whichever gateway ran it, the other one has its files.
        const client = clientAt((n + 1) % 2)
        const batch = await client.ended(id)
        expect(batch.request_counts).toEqual({ total: lineCount, completed: lineCount, failed: 0 })
        const output = answersIn(await client.content(batch.output_file_id))
        expect(output.map(({ custom_id }) => custom_id)).toEqual(
          linesOf('').map(({ custom_id }) => custom_id),
        )
        answered.push(...output.map(({ response }) => response.request_id))
      }
      for (const name of names) {
        expect(sent(name)).toHaveLength(lineCount)
        expect(new Set(sent(name)).size).toBe(lineCount)
      }
      expect((await charged()).toSorted()).toEqual(answered.toSorted())
    })

    test('go on at the other gateway when theirs is killed', async () => {
      const before = new Set(await charged())
      const { id } = await clientAt(0).start(linesOf('black'))
      while (sent('black').length < 20) await Bun.sleep(5)
      await gateways[0]!.stop('SIGKILL')
      gateways[0] = await start()
      const batch = await clientAt(1).ended(id)
      expect(batch.request_counts).toEqual({ total: lineCount, completed: lineCount, failed: 0 })
      const output = answersIn(await clientAt(0).content(batch.output_file_id))
      const now = (await charged()).filter((each) => !before.has(each))
      expect(now.toSorted()).toEqual(
        output.map(({ response }) => response.request_id as string).toSorted(),
      )
      expect(new Set(now).size).toBe(lineCount)
    })
  })
}
