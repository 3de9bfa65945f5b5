// Batches of upstreams over kill -9: the upstream's batch is made once and found again, and each line is charged
// once.
import { describe, expect, test } from 'bun:test'
import type { CrashPoint } from '../../src/lib/crash-point.ts'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { chargesOf, readAccount, readLedger } from '../support/books.ts'
import { freePort } from '../support/free-port.ts'
import { apiToken, startGateway } from '../support/gateway.ts'
import { answersIn, BatchClient, line } from './client.ts'
import { NativeUpstream, nativeConfig } from './native-upstream.ts'

/** With the number of uploads and of batches that the upstream gets. */
const cases: readonly [CrashPoint, string, number, number][] = [
  ['native-held', '1', 1, 1],
  // A file of which nothing was made is left.
  ['native-uploaded', '1', 2, 1],
  // Made, but not noted: found by its file.
  ['native-created', '1', 1, 1],
  ['native-adopting', '1', 1, 1],
  ['native-kept', '2', 1, 1],
  ['call-answered', '3', 1, 1],
  ['batch-line', '2', 1, 1],
  ['batch-files', '1', 1, 1],
]
const shared: readonly CrashPoint[] = ['native-created', 'native-kept']
const lineCount = 6

describe.each([...storeKinds])('a native batch on %s', (kind) => {
  const own = kind === 'sqlite' ? cases : cases.filter(([point]) => shared.includes(point))
  test.each(own)('survives a kill at %s', async (point, time, files, batches) => {
    const upstream = new NativeUpstream(0.2)
    const place = await newPlace(kind)
    const { dataDir, databaseUrl } = place.options
    const port = freePort()
    const start = (crash?: string) =>
      startGateway({
        config: nativeConfig(upstream.url),
        ...{ dataDir, port },
        env: {
          ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
          ...(crash !== undefined && { GATEWAY_CRASH_AT: crash }),
        },
      })
    const first = await start(`${point}:${time}`)
    const lines = Array.from({ length: lineCount }, (_, n) => line(n, 'hi', { max_tokens: 20 }))
    const { id } = await new BatchClient(first.url, apiToken).start(lines)
    await first.exited
    const gateway = await start()
    try {
      const client = new BatchClient(gateway.url, apiToken)
      const batch = await client.ended(id)
      expect(batch.request_counts).toEqual({ total: lineCount, completed: lineCount, failed: 0 })
      const output = answersIn(await client.content(batch.output_file_id))
      const answered = output.map(({ response }) => response.request_id as string)
      const charges = chargesOf(await readLedger(gateway)).map(({ request_id }) => request_id)
      expect(charges.toSorted()).toEqual(answered.toSorted())
      expect(new Set(charges).size).toBe(lineCount)
      expect([upstream.count('POST', '/v1/files'), upstream.count('POST', '/v1/batches')]).toEqual([
        files,
        batches,
      ])
      expect(upstream.count('POST', '/v1/chat/completions')).toBe(0)
      expect((await readAccount(gateway)).held).toBe('0.00')
      expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true })
    } finally {
      await gateway.stop('SIGKILL')
      await upstream.stop()
      await place.remove()
    }
  })
})
