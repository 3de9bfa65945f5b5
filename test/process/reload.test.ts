// SIGHUP and gateway reload: what the file says now takes over as a whole, or not at all.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { type RequestRow, readAccount, readLedger } from '../support/books.ts'
import { adminToken, root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { running } from '../support/process/plain-start.ts'

const secretA = 'sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
const secretB = 'sk-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
const account = 'accounts: [{ name: acme, balance: "100.00" }]\n'
const token = (name: string, secret: string, who = 'acme') =>
  `  - { account: ${who}, name: ${name}, token: ${secret} }\n`
const fileA = `${account}tokens:\n${token('a', secretA)}`

const { started, stopAll } = running()
let configPath: string
let gateway: TestGateway

beforeEach(async () => {
  configPath = join(tempDir(), 'gateway.yaml')
  writeFileSync(configPath, fileA)
  gateway = await started(startGateway({ env: { GATEWAY_CONFIG: configPath } }))
})
afterEach(stopAll)

const reloaded = 'configuration reloaded'
const notReloaded = 'configuration not reloaded'
const linesWith = (words: string) =>
  gateway
    .output()
    .split('\n')
    .filter((line) => line.includes(words))

/** Writes the file, sends the signal and waits until the log has said how it went. */
async function reload(text: string): Promise<string> {
  const said = () => [...linesWith(reloaded), ...linesWith(notReloaded)].length
  const before = said()
  writeFileSync(configPath, text)
  process.kill(gateway.pid, 'SIGHUP')
  while (said() === before) await Bun.sleep(10)
  return gateway
    .output()
    .split('\n')
    .findLast((line) => line.includes(reloaded) || line.includes(notReloaded))!
}

interface Asked {
  status: number
  requestId: string
}

async function ask(secret: string): Promise<Asked> {
  const body = {
    model: 'txta-plus',
    messages: [{ role: 'user', content: 'hi [[sim:tokens=1000]]' }],
  }
  const headers = { authorization: `Bearer ${secret}` }
  const response = await gateway.post('/v1/chat/completions', body, headers)
  await response.text()
  return {
    status: response.status,
    requestId: response.headers.get('x-gateway-request-id') ?? '',
  }
}

const statusFor = async (secret: string) => (await ask(secret)).status
const rowOf = async ({ requestId }: Asked) =>
  (await gateway.admin('GET', `/requests/${requestId}`)).body as RequestRow & { channel: string }

/** Any change over the admin API makes the gateway look at its whole catalog again. */
async function changeSomethingElse(): Promise<void> {
  const made = await gateway.admin('POST', '/tokens', { account: 'acme', name: 'other' })
  expect(made.status).toBe(201)
}

describe('a reload', () => {
  test('brings new accounts, tokens, prices and channels into force', async () => {
    const sandbox: Sandbox = startSandbox()
    const before = await ask(secretA)
    expect(before.status).toBe(200)
    expect((await rowOf(before)).channel).toBe('sandbox')
    const line = await reload(`
accounts: [{ name: acme, balance: "100.00" }, { name: second, balance: "17.00" }]
tokens:
${token('a', secretA)}${token('b', secretB, 'second')}
prices:
  - { model: txta-plus, unit: token, per_million: { input: "0", output: "1000.00" } }
channels:
  - name: added
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${sandbox.protocols.chat}" }
    models: { "*": "*" }
`)
    expect(line).toContain(reloaded)
    const after = await ask(secretB)
    expect(after.status).toBe(200)
    // A thousand tokens of output at a thousand per million.
    expect(await rowOf(after)).toMatchObject({ channel: 'added', charge: '1.00' })
    expect(await readAccount(gateway, 'second')).toMatchObject({ balance: '16.00' })
    expect(await statusFor(secretA)).toBe(200)
    const { body } = await gateway.admin('GET', '/channels')
    expect(JSON.stringify(body)).toContain('"added"')
    await sandbox.stop()
  })

  test('that would take every channel of the file away changes nothing and says why', async () => {
    const sandbox: Sandbox = startSandbox()
    const channels = `
channels:
  - { name: only, keys: [sk-upstream-0123456789], protocols: { chat: "${sandbox.protocols.chat}" }, models: { "*": "*" } }
`
    expect(await reload(`${fileA}${channels}`)).toContain(reloaded)
    const line = await reload(fileA)
    expect(line).toContain(notReloaded)
    expect(line).toContain('channels is empty now')
    expect((await rowOf(await ask(secretA))).channel).toBe('only')
    await sandbox.stop()
  })

  test('takes tokens that are no longer in the file out of use, and puts them back in', async () => {
    await reload(`${account}tokens:\n${token('b', secretB)}`)
    expect(await statusFor(secretA)).toBe(401)
    expect(await statusFor(secretB)).toBe(200)
    const line = await reload(`${account}tokens:\n${token('a', secretA)}${token('b', secretB)}`)
    expect(line).toContain(reloaded)
    expect(await statusFor(secretA)).toBe(200)
    expect(await statusFor(secretB)).toBe(200)
  })

  test('knows a token under its new name', async () => {
    const line = await reload(`${account}tokens:\n${token('renamed', secretA)}`)
    expect(line).toContain(reloaded)
    expect(await statusFor(secretA)).toBe(200)
  })

  test('gives a token its new secret, and the old one stops working', async () => {
    await reload(`${account}tokens:\n${token('a', secretB)}`)
    expect(await statusFor(secretA)).toBe(401)
    expect(await statusFor(secretB)).toBe(200)
    const credits = (await readLedger(gateway)).filter(({ kind }) => kind === 'credit')
    expect(credits).toHaveLength(1)
  })

  test.each([
    ['is no YAML', 'accounts: [', ':1:12:'],
    ['has an unknown key', `${fileA}chanels: []\n`, 'did you mean \\"channels\\"?'],
    ['is empty', '', 'tokens is empty now'],
    ['has lost its tokens', account, 'tokens is empty now'],
    ['has an empty list of tokens', `${account}tokens: []\n`, 'restart the gateway'],
    ['has another currency', `currency: EUR\n${fileA}`, 'currency cannot change'],
    [
      'names an account that is not there',
      `${account}tokens:\n${token('a', secretB)}${token('x', `${secretB}x`, 'nobody')}`,
      "account 'nobody'",
    ],
  ])('with a file that %s changes nothing and says why', async (_, text, why) => {
    const line = await reload(text)
    expect(line).toContain(notReloaded)
    expect(line).toContain(why)
    expect(await statusFor(secretA)).toBe(200)
    expect(await statusFor(secretB)).toBe(401)
    await changeSomethingElse()
    expect(await statusFor(secretA)).toBe(200)
    expect(await statusFor(secretB)).toBe(401)
    expect(await reload(fileA)).toContain(reloaded)
    expect(await statusFor(secretA)).toBe(200)
  })
})

describe('gateway reload', () => {
  const command = async (env: Record<string, string> = {}) => {
    const child = Bun.spawn([join(root, 'bin/gateway'), 'reload'], {
      cwd: tempDir(),
      stdout: 'pipe',
      stderr: 'pipe',
      env: {
        ...ownEnv,
        GATEWAY_ADMIN_TOKEN: adminToken,
        GATEWAY_DATA_DIR: gateway.dataDir,
        ...env,
      },
    })
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, out, err }
  }

  test('finds the gateway of the data directory and says what changed', async () => {
    writeFileSync(configPath, `${account}tokens:\n${token('b', secretB)}`)
    expect(await command()).toEqual({
      code: 0,
      out: `reloaded ${configPath}\nremoved tokens acme/a\nadded tokens acme/b\n`,
      err: '',
    })
    expect([await statusFor(secretA), await statusFor(secretB)]).toEqual([401, 200])
    const { out } = await command()
    expect(out).toBe(`reloaded ${configPath}: nothing has changed in it\n`)
    const { body } = await gateway.admin('GET', '/audit-log')
    expect(body.items[0]).toMatchObject({ actor: 'admin', action: 'reload' })
    expect(JSON.stringify(body)).not.toContain(secretB)
  })

  test.each([
    ['is no YAML', 'accounts: [', ':1:12: '],
    ['has a misspelt key', `${fileA}chanels: []\n`, ':4:1: chanels is not a known key'],
    [
      'has a misspelt account in a token',
      `${account}tokens:\n${token('a', secretA)}${token('x', secretB, 'acne')}`,
      ":4:16: token 'x' names the account 'acne', which does not exist; did you mean 'acme'?",
    ],
    [
      'has a price for an account that is not there',
      `${fileA}prices:\n  - { model: txta-plus, account: nobody, unit: token, per_million: { input: "1", output: "1" } }\n`,
      ":5:34: the price of 'txta-plus' names the account 'nobody', which does not exist (",
    ],
  ])('of a file that %s changes nothing, and names file and line', async (_, text, why) => {
    writeFileSync(configPath, text)
    const { code, err } = await command()
    expect(code).toBe(1)
    expect(err).toContain(`${configPath}${why}`)
    expect(await statusFor(secretA)).toBe(200)
  })

  test('without a gateway or with another token is refused', async () => {
    const wrong = await command({ GATEWAY_ADMIN_TOKEN: 'admin-token-of-somebody-else-0123' })
    expect(wrong.code).toBe(1)
    await gateway.stop()
    expect((await command({ GATEWAY_PORT: '1' })).code).toBe(69)
  })
})

test('a value from a file is read again, and one that cannot be read changes nothing', async () => {
  const secret = join(tempDir(), 'token')
  const text = `${account}tokens:\n${token('a', `"\${file:${secret}}"`)}`
  writeFileSync(secret, `${secretA}\n`)
  expect(await reload(text)).toContain(reloaded)
  expect(await statusFor(secretA)).toBe(200)
  writeFileSync(secret, `${secretB}\n`)
  expect(await reload(text)).toContain(reloaded)
  expect([await statusFor(secretA), await statusFor(secretB)]).toEqual([401, 200])
  const refused = await reload(text.replace(secret, `${secret}-gone`))
  expect(refused).toContain(notReloaded)
  expect(refused).toContain('cannot be read (ENOENT)')
  expect(await statusFor(secretB)).toBe(200)
  expect(gateway.output()).not.toContain(secretB)
})

describe('a restart with another file', () => {
  const restart = async (text: string) => {
    await gateway.stop()
    writeFileSync(configPath, text)
    const { dataDir } = gateway
    gateway = await started(startGateway({ dataDir, env: { GATEWAY_CONFIG: configPath } }))
  }

  test('takes a token out of use and puts it back in', async () => {
    await restart(`${account}tokens:\n${token('b', secretB)}`)
    expect(await statusFor(secretA)).toBe(401)
    await restart(fileA)
    expect(await statusFor(secretA)).toBe(200)
    expect(await statusFor(secretB)).toBe(401)
  })

  test('lets two tokens swap their secrets', async () => {
    await restart(`${account}tokens:\n${token('a', secretA)}${token('b', secretB)}`)
    await restart(`${account}tokens:\n${token('a', secretB)}${token('b', secretA)}`)
    expect(await statusFor(secretA)).toBe(200)
    expect(await statusFor(secretB)).toBe(200)
  })
})
