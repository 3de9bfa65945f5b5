// Backups as an operator takes and restores them: hot, from a gateway under load, into a new
// database of either engine, and the copy from SQLite to PostgreSQL.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import {
  adminToken,
  defaultConfig,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const masterKey = Buffer.alloc(32, 9).toString('base64')

async function gateway(words: readonly string[], env: Record<string, string>) {
  const child = Bun.spawn([join(root, 'bin/gateway'), ...words], {
    cwd: tempDir(),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...ownEnv, GATEWAY_DATA_DIR: tempDir(), ...env },
  })
  const text = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, text }
}

interface Seen {
  balance: string
  held: string
  entries: number
}

async function seen(at: TestGateway): Promise<Seen> {
  const { body } = await at.admin('GET', '/accounts/acme')
  const { body: audit } = await at.admin('POST', '/audit')
  expect(audit.problems).toEqual([])
  return { balance: body.balance, held: body.held, entries: audit.entries }
}

/** Every task has ended when nothing is held any more. */
async function allEnded(at: TestGateway): Promise<void> {
  while ((await at.admin('GET', '/accounts/acme')).body.held !== '0.00') await Bun.sleep(50)
}

/** Calls without end, and a video now and then. */
function underLoad(at: TestGateway): { stop(): Promise<number> } {
  let going = true
  let answered = 0
  const one = async (n: number) => {
    for (let i = 0; going; i++) {
      const response =
        i % 10 === n
          ? await at.post('/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: 5 })
          : await at.chat(`hello ${i}`)
      if (response.ok) answered++
      await response.text()
    }
  }
  const all = Array.from({ length: 8 }, (_, n) => one(n))
  return {
    async stop() {
      going = false
      await Promise.all(all)
      return answered
    },
  }
}

const placeEnv = async (engine: (typeof storeKinds)[number]): Promise<Record<string, string>> => {
  const { options } = await newPlace(engine, { empty: true })
  return {
    GATEWAY_DATA_DIR: options.dataDir,
    GATEWAY_MASTER_KEY: masterKey,
    ...(options.databaseUrl !== undefined && { GATEWAY_DATABASE_URL: options.databaseUrl }),
  }
}

/** A create that was under way at the moment of the backup is waited for, but not for long. */
const config = `${defaultConfig}\ntasks: { unknown_for: 2s }\n`

const start = (env: Record<string, string>) => {
  const { GATEWAY_DATA_DIR: dataDir, ...rest } = env
  return startGateway({ config, ...(dataDir !== undefined && { dataDir }), env: rest })
}

if (!storeKinds.includes('postgres')) {
  console.error('left out: backups of PostgreSQL and db copy (set TEST_POSTGRES_URL)')
}

for (const engine of storeKinds) {
  describe(engine, () => {
    test('a backup taken under load is whole, restores, and its tasks go on', async () => {
      const first = await start(await placeEnv(engine))
      const load = underLoad(first)
      await Bun.sleep(700)
      const file = join(tempDir(), 'gateway.backup.gz')
      const taken = await gateway(['backup', file], {
        GATEWAY_URL: first.url,
        GATEWAY_ADMIN_TOKEN: adminToken,
      })
      expect(taken).toMatchObject({ code: 0 })
      expect(existsSync(`${file}.partial`)).toBe(false)
      await Bun.sleep(200)
      expect(await load.stop()).toBeGreaterThan(20)
      await first.stop()

      const target = await placeEnv(engine)
      const restored = await gateway(['restore', file], target)
      expect(restored.text).toMatch(/audit: ok, 1 accounts, \d+ entries/)
      expect(restored.code).toBe(0)
      const second = await start(target)
      await allEnded(second)
      expect((await seen(second)).entries).toBeGreaterThan(10)
      expect((await second.chat('and on')).status).toBe(200)
      await second.stop()
    })

    test('refuses what would lose something, in one sentence', async () => {
      const target = await placeEnv(engine)
      const nonsense = join(tempDir(), 'nonsense')
      writeFileSync(nonsense, 'hello')
      const refused = await gateway(['restore', nonsense], target)
      expect(refused.code).toBe(78)
      expect(refused.text).toContain('cannot be read')
      expect(await gateway(['restore', join(tempDir(), 'none')], target)).toMatchObject({
        code: 78,
      })

      const running = await start(target)
      const file = join(tempDir(), 'b.gz')
      const env = { GATEWAY_URL: running.url, GATEWAY_ADMIN_TOKEN: adminToken }
      await gateway(['backup', file], env)
      const wrong = await gateway(['backup', file], { ...env, GATEWAY_ADMIN_TOKEN: 'no' })
      expect(wrong.code).toBe(1)
      await running.stop()
      expect((await gateway(['restore', file], target)).text).toContain('not empty')

      // Cut in the middle: the half that was written does not start as a gateway.
      const half = join(tempDir(), 'half.gz')
      writeFileSync(half, readFileSync(file).subarray(0, -100))
      const fresh = await placeEnv(engine)
      const broken = await gateway(['restore', half], fresh)
      expect(broken.code).toBe(78)
      const again = await gateway(['start'], { ...fresh, GATEWAY_PORT: '0' })
      expect(again.text).toContain('broken off')
      expect(again.code).toBe(78)
    })
  })
}

if (storeKinds.includes('postgres')) {
  test('db copy takes everything from SQLite to PostgreSQL', async () => {
    const from = await placeEnv('sqlite')
    const first = await start(from)
    const load = underLoad(first)
    await Bun.sleep(500)
    const { GATEWAY_DATABASE_URL: to, ...target } = await placeEnv('postgres')
    const early = await gateway(['db', 'copy', '--to', to!], from)
    expect(early.code).toBe(78)
    await load.stop()
    await allEnded(first)
    const before = await seen(first)
    await first.stop()

    const copied = await gateway(['db', 'copy', '--to', to!], from)
    expect(copied.text).toContain('audit: ok')
    expect(copied.code).toBe(0)
    const second = await start({ ...target, GATEWAY_DATABASE_URL: to! })
    expect(await seen(second)).toEqual(before)
    expect((await second.chat('hello')).status).toBe(200)
    await second.stop()
  })
}
