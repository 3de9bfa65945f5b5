// Starting: what a newcomer sees, what a restart keeps, what is served without a token.
import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { newId } from '../../src/lib/crypto/ids.ts'
import { parseNanos } from '../../src/lib/text/decimal.ts'
import { insertAccount } from '../../src/store/catalog/accounts.ts'
import { insertPrice } from '../../src/store/catalog/prices.ts'
import { openStore, type Tx } from '../../src/store/index.ts'
import { unfinishedKey } from '../../src/store/migrations/finish-receipts.ts'
import { setMeta } from '../../src/store/sql/meta.ts'
import { readAccount, readLedger } from '../support/books.ts'
import { apiToken, root, startGateway, tempDir } from '../support/gateway.ts'
import { plainStart, refusedStart, running, secretsIn } from '../support/process/plain-start.ts'

const wrongSetting = 78

const { started, stopAll } = running()
afterEach(stopAll)

describe('the first start', () => {
  test('shows the secrets and a line that works, and the second start shows none', async () => {
    const first = await started(plainStart())
    const lines = first.stdout().trimEnd().split('\n')
    expect(lines.at(-1)).toMatch(/^ready http:\/\/localhost:\d+$/)
    expect(first.stdout()).toContain(`API          ${first.url}/v1`)
    expect(first.stdout()).toContain(first.dataDir)
    const [admin, token] = secretsIn(first.stdout())
    expect(admin).toStartWith('admin-')
    expect(token).toStartWith('sk-')

    const curl = lines.find((line) => line.trimStart().startsWith('curl '))
    expect(curl).toContain(token!)
    if (Bun.which('curl') === null) console.error('left out: the printed line (install curl)')
    else {
      const child = Bun.spawn(['sh', '-c', `${curl} -s`], { stdout: 'pipe', stderr: 'inherit' })
      const answer = JSON.parse(await child.stdout.text()) as { choices: unknown[] }
      expect(answer.choices).toHaveLength(1)
    }
    const accounts = await fetch(`${first.url}/admin/v1/accounts`, {
      headers: { authorization: `Bearer ${admin}` },
    })
    expect(accounts.status).toBe(200)
    for (const name of ['master.key', 'admin-token']) {
      expect(statSync(join(first.dataDir, name)).mode & 0o777).toBe(0o600)
    }
    expect(secretsIn(first.stderr())).toEqual([])

    await first.stop()
    const second = await started(plainStart({ dataDir: first.dataDir }))
    expect(secretsIn(second.stdout() + second.stderr())).toEqual([])
    expect(second.stdout()).not.toContain('curl')
    const models = await fetch(`${second.url}/v1/models`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(models.status).toBe(200)
  })

  const channelFile =
    'channels: [{ name: real, keys: [k-123456789], protocols: { chat: "http://127.0.0.1:9" }, ' +
    'models: { "*": "*" } }]'
  test.each([
    ['when a channel is declared', { file: channelFile }],
    ['when the sandbox is off', { env: { GATEWAY_SANDBOX: 'off' } }],
    [
      'when a declared channel would be served too',
      { file: channelFile, env: { GATEWAY_SANDBOX: 'on' } },
    ],
  ])('gives away no token %s', async (_, options) => {
    const gateway = await started(plainStart(options))
    expect(gateway.url).toBeDefined()
    const secrets = secretsIn(gateway.stdout())
    expect(secrets.filter((secret) => secret.startsWith('sk-'))).toEqual([])
    const [admin] = secrets
    const response = await fetch(`${gateway.url}/admin/v1/accounts`, {
      headers: { authorization: `Bearer ${admin}` },
    })
    expect(await response.json()).toMatchObject({ items: [] })
  })

  test('that fails because the port is taken keeps the secrets for the start that succeeds', async () => {
    const holder = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const dataDir = tempDir()
    const env = { GATEWAY_PORT: String(holder.port) }
    expect(await refusedStart({ env, dataDir })).toEqual({
      code: wrongSetting,
      text: expect.stringContaining(`port ${holder.port} is already in use`),
    })
    await holder.stop(true)
    const next = await started(plainStart({ dataDir }))
    expect(secretsIn(next.stdout()).map((secret) => secret.split('-')[0])).toContain('admin')
    expect(secretsIn(next.stdout()).map((secret) => secret.split('-')[0])).toContain('sk')
  })

  test('shows a secret that the file left to the gateway once', async () => {
    const file = 'accounts: [{ name: a, balance: "1" }]\ntokens: [{ account: a, name: made }]'
    const first = await started(plainStart({ file }))
    const made = secretsIn(first.stdout()).filter((secret) => secret.startsWith('sk-'))
    expect(new Set(made).size).toBe(1)
    await first.stop()
    const second = await started(plainStart({ file, dataDir: first.dataDir }))
    expect(secretsIn(second.stdout())).toEqual([])
    const models = await fetch(`${second.url}/v1/models`, {
      headers: { authorization: `Bearer ${made[0]}` },
    })
    expect(models.status).toBe(200)
  })
})

describe('a restart', () => {
  const file = (balance: string) => `
accounts: [{ name: acme, balance: "${balance}" }, { name: poor }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
`
  test('credits an opening balance no second time, not even a different one', async () => {
    const dataDir = tempDir()
    for (const balance of ['100.00', '100.00', '250.00']) {
      const gateway = await started(startGateway({ dataDir, config: file(balance) }))
      expect((await gateway.chat('hello [[sim:tokens=3]]')).status).toBe(200)
      const credits = (await readLedger(gateway)).filter(({ kind }) => kind === 'credit')
      expect(credits.map(({ amount }) => amount)).toEqual(['100.00'])
      expect(await readLedger(gateway, 'poor')).toEqual([])
      await gateway.stop()
    }
  })

  /** Requests and their charges of one nano-unit each, as if made long ago. */
  async function insertOldCharges(tx: Tx, accountId: string, count: number): Promise<void> {
    const numbers = sql`WITH RECURSIVE n (i) AS (
      SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}
    )`
    const detail = JSON.stringify({ stream: false, ending: 'complete', attempts: [] })
    await sql`INSERT INTO requests (request_id, at_ms, account_id, token_id, interface, model,
        status, charge_nanos, price_id, input_tokens, output_tokens, cache_read_tokens,
        cache_write_tokens, total_ms, detail)
      ${numbers} SELECT 'req_' || printf('%032x', i), i, ${accountId}, 'tok_1', 'chat',
        'txta-plus', 200, 1, 'price_old', 1, 0, 0, 0, 1, ${detail} FROM n`.execute(tx)
    await sql`INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, estimated)
      VALUES (0, ${accountId}, 'credit', 5000000000, 'opening', 0)`.execute(tx)
    await sql`INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, estimated, model,
        unit, quantity, price_id, token_id)
      ${numbers} SELECT i, ${accountId}, 'charge', -1, 'req_' || printf('%032x', i), 0,
        'txta-plus', 'token', 1, 'price_old', 'tok_1' FROM n`.execute(tx)
    const terms = { unit: 'token', tiers: [{ inputNanos: 1_000_000n, outputNanos: 0n }] } as const
    const price = { id: 'price_old', model: 'txta-plus', effectiveFromMs: 0 }
    await insertPrice(tx, { ...price, source: 'builtin', terms }, 0)
    await sql`UPDATE accounts SET balance_nanos = 5000000000 - ${count}
      WHERE id = ${accountId}`.execute(tx)
  }

  test('with 100,000 entries behind it serves a first call, and the balance is their sum', async () => {
    const dataDir = tempDir()
    const store = await openStore({ dataDir })
    const id = newId('acc', 1)
    await store.tx(async (tx) => {
      await insertAccount(tx, { id, name: 'acme', source: 'file', createdAtMs: 1 })
      await insertOldCharges(tx, id, 100_000)
      // As an upgrade leaves them: the start gives them their receipts.
      await setMeta(tx, 'currency', 'CNY')
      await setMeta(tx, unfinishedKey, '0')
    })
    await store.close()

    const startMs = performance.now()
    const gateway = await started(startGateway({ dataDir }))
    const readyMs = performance.now()
    const answer = await gateway.chat('hello [[sim:tokens=3]]')
    const answeredMs = performance.now()
    expect(answer.status).toBe(200)
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, accounts: 1, entries: 100_002, problems: [] })
    const requestId = answer.headers.get('x-gateway-request-id')
    const charged = await gateway.admin('GET', `/requests/${requestId}`)
    const before = 5_000_000_000n - 100_000n
    expect(parseNanos((await readAccount(gateway)).balance)).toBe(
      before - parseNanos(charged.body.charge)!,
    )
    const [start, first] = [readyMs - startMs, answeredMs - readyMs].map(Math.round)
    console.error(`start: 100,000 entries: ready after ${start} ms, first answer in ${first} ms`)
  })
})

describe('without a token', () => {
  test('health, readiness and the schema of the file are served, and nothing else is', async () => {
    const gateway = await started(startGateway())
    const get = (path: string) => fetch(`${gateway.url}${path}`)
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ]) {
      const response = await get(path!)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_[0-9a-f]{32}$/)
      expect(await response.json()).toEqual({ status: status! })
    }
    const schema = await get('/config.schema.json')
    expect(schema.status).toBe(200)
    expect(await schema.text()).toBe(readFileSync(join(root, 'gateway.schema.json'), 'utf8'))
    for (const path of ['/v1/models', '/admin/v1/accounts', '/admin/v1/channels']) {
      expect((await get(path)).status).toBe(401)
    }
  })
})
