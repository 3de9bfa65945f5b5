// Exports by real gateways that are killed in the middle: on SQLite the next start goes on with them, on
// PostgreSQL another gateway does. And the same from the command line.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aRequest, newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { adminToken, root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { until } from '../support/read.ts'

const rows = 20_000
/** Until a dead gateway is known to be dead, and its work is done. */
const maxMs = 60_000

if (!storeKinds.includes('postgres')) {
  console.error('left out: exports of gateways on PostgreSQL (set TEST_POSTGRES_URL)')
}

const start = ({ options }: Place): Promise<TestGateway> =>
  startGateway({
    dataDir: options.databaseUrl === undefined ? options.dataDir : tempDir(),
    env: {
      // All of them open what one of them has closed.
      GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...(options.databaseUrl !== undefined && { GATEWAY_DATABASE_URL: options.databaseUrl }),
    },
  })

async function fill(place: Place): Promise<void> {
  const store = await place.open()
  for (let done = 0; done < rows; done += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, () => store.record(aRequest())))
  }
  await store.close()
}

const fileOf = async ({ url }: TestGateway, id: string): Promise<string[]> => {
  const headers = { authorization: `Bearer ${adminToken}` }
  const answer = await fetch(`${url}/admin/v1/exports/${id}/file`, { headers })
  expect(answer.status).toBe(200)
  return (await answer.text()).trimEnd().split('\n')
}

describe.each([...storeKinds])('an export on %s', (engine) => {
  test('survives the death of whoever writes it', async () => {
    const place = await newPlace(engine)
    await fill(place)
    const first = await start(place)
    const beside = engine === 'postgres' ? await start(place) : undefined
    const input = { kind: 'requests', format: 'jsonl' }
    const { id } = (await first.admin('POST', '/exports', input)).body
    const path = `/exports/${id}`
    const seen = await until('its first rows', async () => {
      const { body } = await first.admin('GET', path)
      return body.rows > 0 ? (body as { rows: number; state: string }) : undefined
    })
    await first.stop('SIGKILL')
    expect(seen).toMatchObject({ state: 'running' })
    expect(seen.rows).toBeLessThan(rows)
    const second = beside ?? (await start(place))
    const done = await until(
      'its end',
      async () => {
        const { body } = await second.admin('GET', path)
        return body.state === 'done' ? body : undefined
      },
      maxMs,
    )
    expect(done).toMatchObject({ rows, limit_reached: false })
    const ids = (await fileOf(second, id)).map(
      (line) => (JSON.parse(line) as { request_id: string }).request_id,
    )
    expect(ids).toHaveLength(rows)
    expect(new Set(ids).size).toBe(rows)
    if (engine === 'sqlite') await checkCommand(second)
    await second.stop()
    await place.remove()
  }, 120_000)
})

/** Waits for it, saves it, and leaves nothing behind. */
async function checkCommand(gateway: TestGateway): Promise<void> {
  const file = join(tempDir(), 'requests.csv')
  const run = (...words: string[]) =>
    Bun.spawn([join(root, 'bin/gateway'), ...words, '--url', gateway.url], {
      env: { ...ownEnv, GATEWAY_ADMIN_TOKEN: adminToken },
      stdout: 'pipe',
      stderr: 'pipe',
    })
  const month = new Date().toISOString().slice(0, 7)
  const filters = ['--month', month, '--model', 'nothing-of-that']
  const made = run('export', 'requests', ...filters, '--out', file)
  expect(await new Response(made.stdout).text()).toContain(': 0 rows, ')
  expect(await made.exited).toBe(0)
  expect(readFileSync(file, 'utf8')).toStartWith('\uFEFFrequest_id,at,')
  const left = (await gateway.admin('GET', '/exports')).body.items
  expect(left.map(({ kind, rows: n }: { kind: string; rows: number }) => [kind, n])).toEqual([
    ['requests', rows],
  ])
  const wrong = run('export', 'nothing', '--out', file)
  expect(await wrong.exited).toBe(2)
}
