// An upload of the maximum size is stored as it arrives: the gateway's memory does not grow with it.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { maxFileBytes } from '../../src/contract/batches/index.ts'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway } from '../support/gateway.ts'
import { BatchClient } from './client.ts'

const mb = 1024 * 1024

/** The most that the process has had in memory. */
const peakBytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024

/** A form whose file has this many bytes, never whole in memory here either. */
function uploadOf(bytes: number): ReadableStream<Uint8Array> {
  const head = '--edge\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
  const file =
    '--edge\r\ncontent-disposition: form-data; name="file"; filename="big.jsonl"\r\ncontent-type: application/jsonl\r\n\r\n'
  const line = Buffer.from(`${'x'.repeat(mb - 1)}\n`)
  const parts = function* () {
    yield Buffer.from(head + file)
    for (let left = bytes; left > 0; left -= mb) yield line.subarray(0, Math.min(left, mb))
    yield Buffer.from('\r\n--edge--\r\n')
  }
  const all = parts()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = all.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

test.each([...storeKinds])('100 MB on %s never are in memory as a whole', async (kind) => {
  const place = await newPlace(kind)
  const { dataDir, databaseUrl } = place.options
  const env = databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: databaseUrl }
  const gateway = await startGateway({ dataDir, env })
  const send = (bytes: number) =>
    fetch(`${gateway.url}/v1/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiToken}`,
        'content-type': 'multipart/form-data; boundary=edge',
      },
      body: uploadOf(bytes),
    })
  try {
    const small = await send(2 * mb)
    expect(small.status).toBe(200)
    const before = peakBytes(gateway.pid)
    const answer = await send(maxFileBytes)
    const file = (await answer.json()) as { id: string; bytes: number }
    expect([answer.status, file.bytes]).toEqual([200, maxFileBytes])
    expect((peakBytes(gateway.pid) - before) / mb).toBeLessThan(80)
    const large = await send(maxFileBytes + 1)
    expect(large.status).toBe(413)
    const files = await new BatchClient(gateway.url, apiToken).get('/files')
    expect(files.data).toHaveLength(2)
  } finally {
    await gateway.stop()
    await place.remove()
  }
})
