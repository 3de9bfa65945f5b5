// `gateway demo`: the history of a company whose books are in order, live calls, and an end that leaves nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/index.ts'
import { historyStartMs, writeHistory } from '../../src/demo/history.ts'
import { demoFile } from '../../src/demo/offer.ts'
import { seededRandom } from '../../src/demo/random.ts'
import { openWorld } from '../../src/demo/world.ts'
import { createLog } from '../../src/lib/telemetry/log.ts'
import { root, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { until } from '../support/read.ts'

const startMs = 120_000
const run = (...args: string[]) =>
  Bun.spawn([join(root, 'bin/gateway'), 'demo', ...args], {
    cwd: tempDir(),
    stdout: 'pipe',
    stderr: 'pipe',
    // A setting that a real gateway would refuse: none of them is read.
    env: { ...ownEnv, GATEWAY_HOST: 'not a host' },
  })

describe('a demonstration', () => {
  const child = run('--port', '0')
  let output = ''
  let url = ''
  let dir = ''
  let token = ''

  beforeAll(async () => {
    void (async () => {
      for await (const bytes of child.stdout) output += new TextDecoder().decode(bytes)
    })()
    url = await until('it is ready', () => /^ready (\S+)$/m.exec(output)?.[1], startMs)
    dir = /Data\s+(\S+), removed/.exec(output)![1]!
    token = readFileSync(join(dir, 'admin-token'), 'utf8').trim()
  }, startMs)

  afterAll(() => child.kill('SIGKILL'))

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  const admin = async (path: string, body?: object): Promise<any> => {
    const answer = await fetch(`${url}/admin/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    expect([path, answer.ok]).toEqual([path, true])
    return answer.json()
  }

  test('the audit of its books finds nothing', async () => {
    const { ok, problems, accounts, receipts } = await admin('/audit', {})
    expect({ ok, problems, accounts }).toEqual({ ok: true, problems: [], accounts: 12 })
    expect(receipts).toBeGreaterThan(5_000)
  })

  test('a customer, a person of finance and an administrator sign in with what it prints', async () => {
    const password = /Password\s+(\S+)/.exec(output)![1]!
    const roles = await Promise.all(
      ['mara', 'finn', 'ingrid'].map(async (name) => {
        const answer = await fetch(`${url}/admin/v1/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name, password }),
        })
        const { role, account } = (await answer.json()) as { role: string; account: string | null }
        return [role, account]
      }),
    )
    expect(roles).toEqual([
      ['administrator', null],
      ['finance', null],
      ['member', 'nordlys-studio'],
    ])
  })

  test('it has customers in several scripts, and models with prices and known costs', async () => {
    const { items: accounts } = await admin('/accounts?limit=50')
    const names = accounts
      .map(({ display_name }: { display_name: string }) => display_name)
      .join(' ')
    for (const script of [
      'Han',
      'Hiragana',
      'Hangul',
      'Cyrillic',
      'Arabic',
      'Devanagari',
      'Greek',
    ]) {
      expect([script, new RegExp(`\\p{Script=${script}}`, 'u').test(names)]).toEqual([script, true])
    }
    const low = accounts.filter(
      (each: { available: string; balance_low: string | null }) =>
        Number(each.available) < Number(each.balance_low),
    )
    expect(low.map(({ name }: { name: string }) => name)).toEqual(['alnoor-tech'])
    const { items: models } = await admin('/models?limit=200')
    const sold = models.filter(({ callable }: { callable: boolean }) => callable)
    expect(sold.length).toBeGreaterThanOrEqual(30)
    const from = new Date(Date.now() - 60 * 86_400_000).toISOString()
    const { total } = await admin(`/usage?from=${from}`)
    expect(total.cost_unknown).toBe(0)
    expect(Number(total.margin)).toBeGreaterThan(0)
  })

  test('months are closed with numbers, a task is refunded, a price was changed and one is to come', async () => {
    const { items } = await admin('/audit-log?limit=200')
    const actions = new Set(items.map(({ action }: { action: string }) => action))
    for (const action of ['price.create', 'task.refund', 'request.refund']) {
      expect([action, actions.has(action)]).toEqual([action, true])
    }
    const { items: months } = await admin('/bills/months?account=nordlys-studio')
    const { month } = months.find(({ state }: { state: string }) => state === 'closed')
    const bill = await admin(`/bills?account=nordlys-studio&month=${month}`)
    expect(bill.number).toMatch(/^\d{4}-\d{2}-\d{4}$/)
    const { items: prices } = await admin('/prices?model=gpt-5-mini')
    expect(prices.map(({ state }: { state: string }) => state).sort()).toEqual([
      'in_force',
      'scheduled',
    ])
  })

  test('an incident was served by another channel, and customers go on calling', async () => {
    const { items: alerts } = await admin('/alerts?all=true')
    expect(alerts.map(({ kind }: { kind: string }) => kind)).toContain('channel_down')
    const open = await until(
      'a model that loses money is found',
      async () => (await admin('/alerts')).items[0]?.message,
      startMs,
    )
    expect(open).toMatch(/^model 'deepseek-v3\.2' has lost money on /)
    const { items: moved } = await admin('/requests?channel=azure-eu&limit=50')
    expect(moved.length).toBeGreaterThan(0)
    const count = async () => (await admin('/requests?limit=1')).items[0].at
    const first = await count()
    await until('a customer calls', async () => (await count()) > first || undefined, startMs)
  })

  test('Ctrl-C ends it with 0, and its directory is gone', async () => {
    child.kill('SIGINT')
    expect(await child.exited).toBe(0)
    expect(existsSync(dir)).toBe(false)
  })
})

test(
  'the same seed gives the same charges, another one others',
  async () => {
    const endMs = Date.UTC(2026, 9, 14, 12)
    const spent = async (seed: number): Promise<string> => {
      const dir = tempDir()
      const bases = new Proxy({}, { get: () => 'http://127.0.0.1:9' }) as Parameters<
        typeof demoFile
      >[0]
      writeFileSync(join(dir, 'gateway.yaml'), stringify(demoFile(bases, 'upk-0123456789abcdef')))
      const env = { GATEWAY_DATA_DIR: dir, GATEWAY_CONFIG: join(dir, 'gateway.yaml') }
      const log = createLog({ level: 'error', pretty: false, write: () => {} })
      const random = seededRandom(seed)
      const at = { ms: historyStartMs(endMs, 2), random, mediaOrigin: 'http://127.0.0.1:9' }
      const world = await openWorld(loadConfig(env, dir), log, at)
      const tokenOf = (account: string, token: string) => `sk-demo-${account}-${token}-0123456789`
      await writeHistory(world, endMs, { password: 'correct-horse-battery', tokenOf })
      const { total } = await world.admin(undefined, 'GET /usage?from=2026-10-01T00:00:00Z')
      await world.close()
      return `${total.charges} ${total.amount}`
    }
    const first = await spent(7)
    expect(await spent(7)).toBe(first)
    expect(await spent(8)).not.toBe(first)
  },
  startMs,
)

test('a directory with something else in it is refused, and so is a flag that is not one', async () => {
  const dir = tempDir()
  writeFileSync(join(dir, 'something'), 'else')
  for (const args of [['--keep', dir], ['--port', 'many'], ['--nonsense']]) {
    const refused = run(...args)
    expect([args, await refused.exited]).toEqual([args, 78])
  }
  expect(readFileSync(join(dir, 'something'), 'utf8')).toBe('else')
})
