// A batch whose input can suddenly not be read on: lines under way end before it is begun again, so that none is
// run twice.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiToken, startGateway, tempDir } from '../support/gateway.ts'
import { completion, jsonReply, startUpstream } from '../support/upstream.ts'
import { answersIn, BatchClient, line } from './client.ts'

const config = (chat: string) => `
accounts: [{ name: acme, balance: "1000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
models: [{ name: plain, kind: text, interfaces: [chat] }]
prices: [{ model: plain, unit: token, per_million: { input: "1", output: "1" } }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${chat}" }
    models: { plain: up }
`

const lineCount = 300
const lineBytes = 50_000
/** It is still with its upstream when the input breaks off. */
const slowLine = 40
/** From here on the input is damaged. */
const brokenLine = 200

const contentOf = (number: number) => `line ${number}; `.padEnd(lineBytes, 'x')
const numberIn = (body: string) => Number(/line (\d+);/.exec(body)?.[1] ?? -1)

/** The input as it is kept. */
function keptFile(dataDir: string): string {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
  return join(dataDir, files.find((name) => /(^|\/)file-[^/]+$/.test(name))!)
}

test('lines under way end before a batch is begun again whose input broke off', async () => {
  const asked = new Map<number, number>()
  const slow = Promise.withResolvers<void>()
  const upstream = startUpstream(async ({ body }) => {
    const number = numberIn(body)
    asked.set(number, (asked.get(number) ?? 0) + 1)
    if (number === slowLine) await slow.promise
    return jsonReply(completion({ prompt_tokens: 5, completion_tokens: 5 }))
  })
  const dataDir = tempDir()
  const gateway = await startGateway({ config: config(upstream.chat), dataDir })
  try {
    const client = new BatchClient(gateway.url, apiToken)
    const lines = Array.from({ length: lineCount }, (_, n) => line(n, contentOf(n)))
    const { id } = await client.start(lines)
    while (!asked.has(slowLine)) await Bun.sleep(2)
    const path = keptFile(dataDir)
    const whole = readFileSync(path)
    expect(statSync(path).size).toBeGreaterThan(lineCount * lineBytes)
    const damaged = Buffer.from(whole)
    damaged.fill(0, brokenLine * lineBytes)
    writeFileSync(path, damaged)
    // It is read as far as it can be.
    while (asked.size < brokenLine - 2) await Bun.sleep(5)
    // Whatever the gateway wants to begin again, it begins with these.
    for (let other = 0; other < 3; other++) {
      await client.run([line(1_000 + other, `line ${1_000 + other};`)])
    }
    expect(asked.get(slowLine)).toBe(1)
    writeFileSync(path, whole)
    slow.resolve()
    const batch = await client.ended(id)
    expect(batch.request_counts).toEqual({ total: lineCount, completed: lineCount, failed: 0 })
    const output = answersIn(await client.content(batch.output_file_id))
    expect(output.map(({ custom_id }) => custom_id)).toEqual(lines.map((each) => each.custom_id))
    expect([...asked].filter(([, times]) => times !== 1)).toEqual([])
  } finally {
    slow.resolve()
    await gateway.stop('SIGKILL')
    await upstream.stop()
  }
})
