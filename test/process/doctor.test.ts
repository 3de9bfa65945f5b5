// gateway doctor, gateway check and gateway health as a person or a pipeline runs them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { newestKnown } from '../../src/store/migrations/index.ts'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { loadOld } from '../support/data/old-database.ts'
import { oldMasterKey } from '../support/data/old-gateway.ts'
import { defaultConfig, root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { startIssuer } from '../support/issuer.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ownEnv } from '../support/own-env.ts'

const hidden = 'hunter2hunter2hunter2'
const redisUrl = process.env['TEST_REDIS_URL']
if (!storeKinds.includes('postgres'))
  console.error('left out: doctor on PostgreSQL (set TEST_POSTGRES_URL)')
if (redisUrl === undefined) console.error('left out: doctor and Redis (set TEST_REDIS_URL)')

async function gateway(
  words: readonly string[],
  env: Record<string, string> = {},
  cwd = tempDir(),
) {
  const child = Bun.spawn([join(root, 'bin/gateway'), ...words], {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...ownEnv, ...env },
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

interface Finding {
  check: string
  state: string
  says: string
  advice?: string
}

/** Its findings as `state check: what it says`. */
async function doctor(env: Record<string, string>, ...flags: string[]) {
  const { code, out, err } = await gateway(['doctor', '--json', ...flags], {
    GATEWAY_PORT: '0',
    GATEWAY_DATA_DIR: tempDir(),
    ...env,
  })
  expect([err, out.includes(hidden)]).toEqual(['', false])
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] }
  expect(code).toBe(ok ? 0 : 1)
  const lines = findings.map(({ state, check, says }) => `${state} ${check}: ${says}`)
  for (const { state, advice } of findings) {
    expect(advice === undefined).toBe(state === 'ok' || state === 'left out')
  }
  return { ok, lines, of: (check: string) => findings.filter((each) => each.check === check) }
}

const fileOf = (text: string): string => {
  const path = join(tempDir(), 'gateway.yaml')
  writeFileSync(path, text)
  chmodSync(path, 0o600)
  return path
}

const signInAt = (issuer: string, groups: string) => ({
  GATEWAY_OIDC_ISSUER: issuer,
  GATEWAY_OIDC_CLIENT_ID: 'gateway',
  GATEWAY_OIDC_CLIENT_SECRET: hidden,
  GATEWAY_OIDC_GROUPS: groups,
})

interface Upstream {
  url: string
  asked: string[]
  stop(): Promise<void>
}

/** Lists its models to whoever has the right key. */
function startUpstream(key: string, aheadMs = 0): Upstream {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.push(`${request.method} ${new URL(request.url).pathname}`)
      const date = new Date(Date.now() + aheadMs).toUTCString()
      const given = request.headers.get('authorization') ?? request.headers.get('x-api-key')
      const status = given?.endsWith(key) ? 200 : 401
      return Response.json({ data: [] }, { status, headers: { date } })
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  return { url, asked, stop: () => server.stop(true) }
}

const channel = (name: string, url: string, more = '') => `
  - name: ${name}
    keys: [${hidden}]
    protocols: { chat: "${url}/v1", messages: "${url}/m" }
    models: { "txta-*": "*", house: house }
    ${more}`

describe('gateway doctor', () => {
  let running: TestGateway
  beforeAll(async () => {
    running = await startGateway()
  })
  afterAll(async () => {
    expect(await running.stop()).toBe(0)
  })

  test('finds nothing wrong with a gateway that runs, and leaves it alone', async () => {
    const env = {
      GATEWAY_PORT: new URL(running.url).port,
      GATEWAY_DATA_DIR: running.dataDir,
      GATEWAY_SANDBOX: 'auto',
    }
    const { ok, lines } = await doctor(env)
    expect(ok).toBe(true)
    expect(lines).toContain(`ok port: a gateway runs on 127.0.0.1:${env.GATEWAY_PORT}: ready`)
    expect(lines).toContain('ok master key: fits the database')
    const database = lines.find((line) => line.includes('database:'))
    expect(database).toEndWith(`schema ${newestKnown}`)
    expect((await running.chat('still there?')).status).toBe(200)
    const table = await gateway(['doctor'], env)
    expect(table.out).toMatch(/^ok +master key +fits the database$/m)
    expect(table.out).toEndWith('\nnothing is wrong\n')
  })

  test('connects and signs in to the mail server, and sends no mail', async () => {
    const server = await startMailServer({ password: hidden, hideSTARTTLS: true })
    const GATEWAY_SMTP_FROM = 'gateway@mail.example'
    const mailOf = async (env: Record<string, string>) => (await doctor(env)).of('mail')
    const at = (signIn: string, port = server.port) => ({
      GATEWAY_SMTP_URL: `smtp://${signIn}127.0.0.1:${port}`,
      GATEWAY_SMTP_FROM,
    })
    const secret = encodeURIComponent(hidden)
    const found = [
      await mailOf(at(`gateway:${secret}@`)),
      await mailOf(at(`gateway:${secret}2@`)),
      await mailOf(at('', 9)),
      await mailOf({ GATEWAY_SMTP_FROM }),
    ]
    await server.stop()
    expect(server.mails).toEqual([])
    expect(found.flat().map(({ state, says }) => `${state} ${says}`)).toEqual([
      `ok smtp://127.0.0.1:${server.port} answers; the sign-in is taken`,
      `problem smtp://127.0.0.1:${server.port}: the mail server refused the sign-in`,
      'problem smtp://127.0.0.1:9: no connection to the mail server could be made',
      'warning GATEWAY_SMTP_URL is not set: no e-mail is sent',
    ])
  })

  test('asks every channel for its models, with its keys, and spends nothing', async () => {
    const [good, bad] = [startUpstream(hidden), startUpstream('another key')]
    const made = await running.admin('POST', '/channels', {
      name: 'stored',
      keys: [hidden],
      protocols: { chat: `${good.url}/stored/v1` },
      models: { 'txta-turbo': '*' },
    })
    expect(made.status).toBe(201)
    const GATEWAY_CONFIG = fileOf(`
channels:${channel('good', good.url)}${channel('bad', bad.url)}${channel('gone', 'http://127.0.0.1:9')}
models: [{ name: house, kind: text, interfaces: [chat] }]
`)
    const issuer = await startIssuer({ id: 'gateway', secret: hidden })
    const { ok, of } = await doctor({
      ...{ GATEWAY_CONFIG, GATEWAY_DATA_DIR: running.dataDir },
      ...signInAt(issuer.url, 'admins=administrator,dev=member:acme,old=member:gone'),
    })
    await running.admin('DELETE', `/channels/${made.body.id}`)
    await Promise.all([good.stop(), bad.stop(), issuer.stop()])
    expect(ok).toBe(false)
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration'])
    expect(of('sign-in')).toEqual([
      expect.objectContaining({ state: 'ok', says: expect.stringContaining(issuer.url) }),
      expect.objectContaining({
        state: 'warning',
        says: "people of the group old are refused: there is no account 'gone'",
      }),
    ])
    for (const name of ['good', 'stored']) {
      for (const { state, says } of of(`channel ${name}`)) {
        expect([state, says]).toEqual(['ok', expect.stringContaining('its key is taken')])
      }
    }
    expect(of('channel bad').map(({ says }) => says)).toEqual([
      `${bad.url} refuses the key (401)`,
      `${bad.url} refuses the key (401)`,
    ])
    expect(of('channel gone')[0]).toMatchObject({ state: 'problem' })
    expect(good.asked.sort()).toEqual([
      'GET /m/v1/models',
      'GET /stored/v1/models',
      'GET /v1/models',
    ])
    expect(of('prices')[0]).toMatchObject({ state: 'warning' })
    expect(of('prices')[0]!.says).toContain('no price for house')
  })
})

describe('gateway doctor, before the first start,', () => {
  test('tells of every wrong setting at once, and of the file', async () => {
    const { ok, lines } = await doctor({
      GATEWAY_PORT: 'eighty',
      GATEWAY_LOG: 'loud',
      GATEWAY_REDIS_URL: `http://u:${hidden}@cache`,
      GATEWAY_PROT: '1',
      GATEWAY_CONFIG: fileOf(
        `chanels: []\naccounts: [{ name: a, balance: 1.5 }]\ncurrency: "\${WHICH}"\n`,
      ),
    })
    expect(ok).toBe(false)
    const wrong = lines.filter((line) => !line.startsWith('ok'))
    expect(wrong.map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'problem environment: GATEWAY_PORT',
      'problem environment: GATEWAY_LOG',
      'problem environment: GATEWAY_REDIS_URL',
      'warning environment: GATEWAY_PROT',
      'problem configuration file:',
      'problem configuration file:',
      'problem configuration file:',
      'left out clock:',
    ])
    const said = wrong.join('\n')
    expect(said).toContain(':1:1: chanels is not a known key; did you mean "channels"?')
    expect(said).toContain(':2:32: accounts[0].balance must be a quoted decimal')
    expect(said).toContain(':3:11: currency needs the environment variable WHICH')
  })

  test('sees a clock that is wrong, a port that is taken, and secrets that others can read', async () => {
    const upstream = startUpstream(hidden, 3_600_000)
    const other = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const dataDir = tempDir()
    writeFileSync(join(dataDir, 'admin-token'), `${hidden}\n`, { mode: 0o644 })
    const GATEWAY_CONFIG = fileOf(`channels:${channel('up', upstream.url)}`)
    chmodSync(GATEWAY_CONFIG, 0o644)
    const issuer = await startIssuer({ id: 'gateway', secret: hidden })
    issuer.lies = { metadata: { issuer: 'https://another.example' } }
    const { of } = await doctor({
      ...signInAt(issuer.url, 'admins=administrator'),
      GATEWAY_CONFIG,
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_PORT: String((other.address() as AddressInfo).port),
    })
    other.close()
    issuer.stop()
    await upstream.stop()
    expect(of('sign-in')).toEqual([
      {
        check: 'sign-in',
        state: 'problem',
        says: expect.stringMatching(/^http:\S+ cannot be used: .*issuer/),
        advice: expect.stringContaining(
          `the "issuer" of ${issuer.url}/.well-known/openid-configuration`,
        ),
      },
    ])
    expect(of('clock')).toEqual([
      expect.objectContaining({
        state: 'problem',
        says: expect.stringMatching(/^\d+\.\d s behind 127/),
      }),
    ])
    expect(of('port')[0]).toMatchObject({ state: 'problem' })
    expect(of('port')[0]!.says).toContain('in use by another program')
    const [secret] = of('secret files')
    expect(secret).toMatchObject({
      state: 'problem',
      advice: `run: chmod 600 ${dataDir}/admin-token`,
    })
    expect(of('configuration file').map(({ state }) => state)).toEqual(['ok', 'warning'])
    expect(of('models')[0]!.says).toBe('channel up serves house, and no model is called that')
    expect(readdirSync(dataDir)).toEqual(['admin-token'])
  })

  test('reaches nobody when it is told to stay offline', async () => {
    const upstream = startUpstream(hidden)
    const GATEWAY_CONFIG = fileOf(`channels:${channel('up', upstream.url)}`)
    const { lines } = await doctor({ GATEWAY_CONFIG }, '--offline')
    await upstream.stop()
    expect(upstream.asked).toEqual([])
    expect(lines).toContain('left out channels: as asked for with --offline')
  })
})

describe.each([...storeKinds])('gateway doctor on %s', (engine) => {
  test('tells an old schema and a newer one, and changes neither', async () => {
    const old = await loadOld(engine, '0.1.0')
    const { dataDir, databaseUrl } = old.place.options
    const env = {
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_MASTER_KEY: oldMasterKey,
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    }
    const before = await old.tables()
    const first = await doctor(env)
    expect(first.of('database')[0]).toMatchObject({ state: 'warning' })
    expect(first.of('database')[0]!.says).toContain(
      `has schema 1; the next start brings it to ${newestKnown}`,
    )
    expect(first.of('master key')[0]).toMatchObject({ state: 'ok', says: 'fits the database' })
    expect(await old.tables()).toEqual(before)
    await old.ask(`UPDATE meta SET value = '999' WHERE key = 'schema_version'`)
    const second = await doctor({ ...env, GATEWAY_MASTER_KEY: 'ab'.repeat(32) })
    expect(second.of('database')[0]).toMatchObject({ state: 'problem' })
    expect(second.of('master key')[0]).toMatchObject({ state: 'problem' })
    await old.place.remove()
  })
})

test('a database that is damaged, or whose key is gone, is told', async () => {
  const { options, open, remove } = await newPlace('sqlite')
  const env = { GATEWAY_DATA_DIR: options.dataDir }
  const store = await open()
  await store.tx((tx) =>
    tx
      .insertInto('meta')
      .values({ key: 'master_key_check', value: 'of a key that is lost' })
      .execute(),
  )
  await store.close()
  expect((await doctor(env)).of('master key')[0]).toMatchObject({ says: 'there is none' })
  for (const name of readdirSync(options.dataDir)) rmSync(join(options.dataDir, name))
  writeFileSync(join(options.dataDir, 'gateway.db'), 'a letter to my mother'.repeat(100))
  expect((await doctor(env)).of('database')[0]!.says).toContain('is not a database or is damaged')
  await remove()
})

test('a PostgreSQL or a Redis that is away is told, without its password', async () => {
  const { lines } = await doctor({
    GATEWAY_DATABASE_URL: `postgres://u:${hidden}@127.0.0.1:9/x`,
    GATEWAY_REDIS_URL: `redis://u:${hidden}@127.0.0.1:9`,
  })
  const wrong = lines.filter((line) => line.startsWith('problem'))
  expect(wrong[0]).toContain('PostgreSQL database 127.0.0.1:9/x cannot be reached')
  expect(wrong[1]).toBe('problem redis: Redis 127.0.0.1:9 cannot be reached')
})

if (redisUrl !== undefined) {
  test('a Redis that answers is compared with the clock', async () => {
    const { lines } = await doctor({ GATEWAY_REDIS_URL: redisUrl })
    expect(lines.some((line) => line.startsWith('ok redis: Redis '))).toBe(true)
    expect(lines.some((line) => line.startsWith('ok clock: agrees with Redis'))).toBe(true)
  })
}

describe('gateway check', () => {
  test('takes the example, and needs none of its secrets', async () => {
    const path = join(root, 'examples/gateway.yaml')
    const { code, out, err } = await gateway(['check', path])
    expect([code, err, out]).toEqual([0, '', `${path}: ok\n`])
  })

  const wrong = `chanels: []
accounts:
  - nmae: a
    balance: 1.5
channels:
  - name: c
    keys: ["\${UPSTREAM_KEY}"]
    protocols: { chat: "https://up.example/v1" }
    models: { txta-plus: x }
    timeouts: { idle: 10 }
`

  test('says everything that is wrong, with its place, and ends with 78', async () => {
    const dir = tempDir()
    writeFileSync(join(dir, 'gateway.yaml'), wrong)
    const { code, out } = await gateway(['check'], {}, dir)
    expect(code).toBe(78)
    expect(out.split('\n')).toEqual([
      'gateway.yaml:1:1: chanels is not a known key; did you mean "channels"?',
      'gateway.yaml:3:5: accounts[0].nmae is not a known key; did you mean "name"?',
      'gateway.yaml:4:14: accounts[0].balance must be a quoted decimal: write "1.5" instead of 1.5',
      expect.stringMatching(
        /^gateway\.yaml:10:23: channels\[0\]\.timeouts\.idle must be a duration/,
      ),
      'gateway.yaml:7:12: warning: channels[0].keys[0] needs the environment variable UPSTREAM_KEY, which is not set',
      '',
    ])
    const json = await gateway(['check', '--json'], {}, dir)
    expect([json.code, JSON.parse(json.out)]).toEqual([
      78,
      expect.objectContaining({ ok: false, file: 'gateway.yaml' }),
    ])
    expect(JSON.parse(json.out).problems[0]).toEqual({
      line: 1,
      column: 1,
      message: 'chanels is not a known key; did you mean "channels"?',
    })
  })

  test('knows a price that the model cannot be charged by', async () => {
    const dir = tempDir()
    const text = 'prices: [{ model: txta-plus, unit: image, per_image: "1" }]'
    writeFileSync(join(dir, 'gateway.yaml'), text)
    const { code, out } = await gateway(['check', 'gateway.yaml'], {}, dir)
    const says = "the unit of the price of 'txta-plus' must be token: 'txta-plus' is a text model"
    expect([code, out]).toEqual([78, `gateway.yaml:1:10: ${says}\n`])
  })

  test('warns of what is allowed but seldom meant; --strict wants every variable', async () => {
    const dir = tempDir()
    const good = `
tokens: [{ account: acme, name: ci }]
channels:${channel('c', 'https://up.example').replace(hidden, `"\${UPSTREAM_KEY}"`)}
models: [{ name: unpriced, kind: text, interfaces: [chat] }]
`.replace('house: house', 'unpriced: x, hause: y')
    writeFileSync(join(dir, 'gateway.yaml'), good)
    const loose = await gateway(['check', 'gateway.yaml'], {}, dir)
    expect(loose.code).toBe(0)
    expect(loose.out).toContain(`warning: channel 'c' serves hause, which is no model here`)
    expect(loose.out).toContain('warning: a channel serves unpriced, which has no price here')
    expect(loose.out).toContain(`warning: token 'ci' names the account 'acme'`)
    expect((await gateway(['check', '--strict'], {}, dir)).code).toBe(78)
    const env = { UPSTREAM_KEY: hidden }
    const strict = await gateway(['check', '--strict'], env, dir)
    expect([strict.code, strict.out.includes(hidden)]).toEqual([0, false])
  })

  test('is told apart from wrong usage', async () => {
    const none = await gateway(['check', 'nowhere.yaml'])
    expect([none.code, none.err]).toEqual([2, 'gateway: nowhere.yaml cannot be read (ENOENT)\n'])
    expect((await gateway(['check', '--lax'])).code).toBe(2)
    expect((await gateway(['doctor', '--lax'])).code).toBe(2)
    expect((await gateway(['check', '--help'])).out).toStartWith('Usage: gateway check')
  })
})

describe('gateway health', () => {
  const health = (url: string) => gateway(['health'], { GATEWAY_URL: url })

  test('is 0 for a gateway that is ready, and 1 for anything else', async () => {
    const running = await startGateway({ config: defaultConfig })
    expect(await health(running.url)).toMatchObject({ code: 0, out: 'ready\n' })
    await running.stop()
    expect(await health(running.url)).toMatchObject({ code: 1, out: 'ECONNREFUSED\n' })
    const draining = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => Response.json({ status: 'draining' }, { status: 503 }),
    })
    const said = await health(`http://127.0.0.1:${draining.port}`)
    expect(said).toMatchObject({ code: 1, out: 'draining\n' })
    const { code } = await gateway(['health'], {
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: String(draining.port),
    })
    expect(code).toBe(1)
    await draining.stop(true)
  })
})
