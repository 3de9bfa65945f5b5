// A gateway that is killed while it runs a batch: every line has one answer and one charge in the end.
import { describe, expect, test } from 'bun:test'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { freePort } from '../support/free-port.ts'
import { apiToken, startGateway } from '../support/gateway.ts'
import { seeded, testSeed } from '../support/seeded.ts'
import { completion, jsonReply, startUpstream } from '../support/upstream.ts'
import { answersIn, BatchClient, line } from './client.ts'

const lineCount = 400
const kills = 4

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

interface Entry {
  kind: string
  request_id: string
}

describe.each([...storeKinds])('a batch on %s', (kind) => {
  test('has every line answered and charged once, however often its gateway is killed', async () => {
    const random = seeded(testSeed())
    const place = await newPlace(kind)
    const upstream = startUpstream(async () => {
      await Bun.sleep(random() * 20)
      return jsonReply(completion({ prompt_tokens: 5, completion_tokens: 5 }))
    })
    const { dataDir, databaseUrl } = place.options
    const env = {
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    }
    const port = freePort()
    const start = (crash?: string) =>
      startGateway({
        config: config(upstream.chat),
        ...{ dataDir, port },
        env: { ...env, ...(crash !== undefined && { GATEWAY_CRASH_AT: crash }) },
      })
    let gateway = await start()
    try {
      const client = new BatchClient(gateway.url, apiToken)
      const lines = Array.from({ length: lineCount }, (_, n) => line(n, 'hi', { max_tokens: 5 }))
      const { id } = await client.start(lines)
      for (let kill = 0; kill < kills; kill++) {
        const before = upstream.calls.length
        while (upstream.calls.length < before + 20 + random() * 40) await Bun.sleep(2)
        await gateway.stop('SIGKILL')
        gateway = await start()
      }
      const batch = await client.ended(id)
      expect(batch.status).toBe('completed')
      expect(batch.request_counts).toEqual({ total: lineCount, completed: lineCount, failed: 0 })
      const output = answersIn(await client.content(batch.output_file_id))
      const customIds = lines.map(({ custom_id }) => custom_id)
      expect(output.map(({ custom_id }) => custom_id)).toEqual(customIds)
      const entries: Entry[] = []
      for (let cursor = ''; ; ) {
        const path = `/accounts/acme/ledger?limit=500${cursor}`
        const { body } = await gateway.admin('GET', path)
        entries.push(...body.items)
        if (body.next_cursor === null || body.next_cursor === undefined) break
        cursor = `&cursor=${body.next_cursor}`
      }
      const charged = entries.filter((e) => e.kind === 'charge').map((e) => e.request_id)
      const answered = output.map(({ response }) => response.request_id as string)
      expect(charged.toSorted()).toEqual(answered.toSorted())
      expect(new Set(charged).size).toBe(lineCount)
    } finally {
      await gateway.stop('SIGKILL')
      await upstream.stop()
      await place.remove()
    }
  })
})
