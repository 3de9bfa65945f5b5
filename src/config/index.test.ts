// Cases for the environment: each variable right and wrong, secrets kept quiet, the file re-read.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, loadConfig, reloadFile, unknownVariables } from './index.ts'

const made: string[] = []
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true })
})

function emptyDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-config-'))
  made.push(dir)
  return dir
}

function dirWith(text: string): string {
  const dir = emptyDir()
  writeFileSync(join(dir, 'gateway.yaml'), text)
  return dir
}

const load = (env: Record<string, string> = {}) => loadConfig(env, emptyDir())

function sentenceFrom(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message
  }
  throw new Error('nothing was thrown')
}

const sentence = (env: Record<string, string>) => sentenceFrom(() => load(env))

describe('the environment', () => {
  test('nothing set means the defaults', () => {
    const cwd = emptyDir()
    const { limits, ...config } = loadConfig({}, cwd)
    expect(config).toEqual({
      host: '127.0.0.1',
      port: 8080,
      dataDir: join(cwd, 'data'),
      sandbox: 'auto',
      sandboxTaskSeconds: 3,
      egressAllow: [],
      trustedProxies: [],
      workers: 1,
      metrics: 'on',
      logLevel: 'info',
      missingForMail: ['GATEWAY_SMTP_URL', 'GATEWAY_SMTP_FROM'],
      startedByNpm: false,
      file: {
        region: 'cn',
        currency: 'CNY',
        exchange: {},
        accounts: [],
        tokens: [],
        channels: [],
        models: [],
        prices: [],
        costs: [],
        webhooks: [],
      },
    })
    expect(limits.bodyBytes).toBe(33_554_432)
  })

  test('every variable is read', () => {
    const cwd = dirWith('region: eu')
    const config = loadConfig(
      {
        GATEWAY_HOST: '[::]',
        GATEWAY_PORT: '0',
        GATEWAY_PUBLIC_URL: 'https://api.example/gw/',
        GATEWAY_DATA_DIR: 'state',
        GATEWAY_DATABASE_URL: 'postgresql://u:p@db/x',
        GATEWAY_REDIS_URL: 'rediss://cache:6379',
        GATEWAY_CONFIG: './gateway.yaml',
        GATEWAY_ADMIN_TOKEN: 'a-token-of-sixteen-or-more',
        GATEWAY_MASTER_KEY: 'ab'.repeat(32),
        GATEWAY_SANDBOX: 'off',
        GATEWAY_SANDBOX_TASK_SECONDS: '0.5',
        GATEWAY_EGRESS_ALLOW: '10.0.0.0/8, 127.0.0.1,::1',
        GATEWAY_TRUSTED_PROXIES: '10.1.0.0/16, ::1',
        GATEWAY_WORKERS: '1',
        GATEWAY_LOG: 'debug',
        GATEWAY_SMTP_URL: 'smtps://u:p@mail.example',
        GATEWAY_SMTP_FROM: 'gateway@mail.example',
        PATH: '/bin',
      },
      cwd,
    )
    expect(config).toMatchObject({
      host: '::',
      port: 0,
      publicUrl: 'https://api.example/gw',
      dataDir: join(cwd, 'state'),
      databaseUrl: 'postgresql://u:p@db/x',
      redisUrl: 'rediss://cache:6379',
      configPath: join(cwd, 'gateway.yaml'),
      adminToken: 'a-token-of-sixteen-or-more',
      sandbox: 'off',
      sandboxTaskSeconds: 0.5,
      egressAllow: ['10.0.0.0/8', '127.0.0.1/32', '::1/128'],
      trustedProxies: ['10.1.0.0/16', '::1/128'],
      logLevel: 'debug',
      mail: { host: 'mail.example', port: 465, auth: { user: 'u', password: 'p' } },
      missingForMail: [],
    })
    expect(config.masterKey).toEqual(new Uint8Array(32).fill(0xab))
    expect(config.file.region).toBe('eu')
  })

  test('an empty variable counts as not set', () => {
    const config = load({ GATEWAY_PORT: '', GATEWAY_ADMIN_TOKEN: '', GATEWAY_CONFIG: '' })
    expect(config.port).toBe(8080)
    expect('adminToken' in config).toBe(false)
  })

  test('a master key is 32 bytes as hex, base64 or base64url', () => {
    const key = Buffer.alloc(32, 0xfb)
    for (const text of [
      key.toString('hex'),
      key.toString('hex').toUpperCase(),
      key.toString('base64'),
      key.toString('base64url'),
    ]) {
      expect(load({ GATEWAY_MASTER_KEY: text }).masterKey).toEqual(new Uint8Array(key))
    }
  })

  test.each([
    ['GATEWAY_HOST', ['a b', '-x', '1.2.3', 'http://x', '10.0.0.0/8']],
    ['GATEWAY_PORT', ['65536', '-1', '80a', '8080.5', ' 80', 'tcp://10.0.0.1:80']],
    ['GATEWAY_PUBLIC_URL', ['api.example', 'ftp://x', 'https://x?a=1', 'https://x#a', 'https://']],
    ['GATEWAY_SANDBOX', ['yes', 'ON']],
    ['GATEWAY_SANDBOX_TASK_SECONDS', ['-1', '3s', 'NaN', '1e3', '86401']],
    ['GATEWAY_EGRESS_ALLOW', ['10.0.0.0/33', 'localhost', '10.0.0.0/8;::1']],
    ['GATEWAY_WORKERS', ['0', '-1', '1.5', 'two']],
    ['GATEWAY_LOG', ['trace', 'INFO']],
  ])('a wrong %s is named, repeated and explained', (variable, values) => {
    for (const value of values) {
      const text = sentence({ [variable]: value })
      expect(text).toStartWith(`${variable} is ${JSON.stringify(value)}; it takes `)
    }
  })

  test.each([
    ['GATEWAY_ADMIN_TOKEN', ['hunter2', 'hunter2 with spaces in it']],
    ['GATEWAY_MASTER_KEY', ['hunter2', 'hunter2'.repeat(10), `${'hunter2'.repeat(6)}==`]],
    [
      'GATEWAY_DATABASE_URL',
      ['mysql://u:hunter2@db/x', 'hunter2', 'hunter2:x', 'postgres://[hunter2'],
    ],
    ['GATEWAY_REDIS_URL', ['http://u:hunter2@cache', 'hunter2@cache', 'redis://[hunter2']],
    ['GATEWAY_PUBLIC_URL', ['https://u:hunter2@x.example']],
  ])('a wrong %s is named and explained without being repeated', (variable, values) => {
    for (const value of values) {
      const text = sentence({ [variable]: value })
      expect(text).toStartWith(`${variable} has `)
      expect(text).toContain('; it takes ')
      expect(text).not.toContain('hunter2')
    }
  })

  test('more than one worker is refused with what to do instead', () => {
    expect(sentence({ GATEWAY_WORKERS: '4' })).toContain('GATEWAY_DATABASE_URL')
    expect(sentence({ GATEWAY_WORKERS: '65' })).toContain('at most 64')
  })

  test('an unknown variable is named with the nearest known one, and does not stop the start', () => {
    const env = { GATEWAY_PROT: '80', GATEWAY_PORT: '80', GATEWAY_URL: 'http://x', PATH: '/bin' }
    expect(unknownVariables(env)).toEqual([
      'GATEWAY_PROT is not a known setting and is ignored; did you mean GATEWAY_PORT?',
    ])
    expect(loadConfig(env, dirWith('')).port).toBe(80)
  })

  test('the config is frozen to its depths', () => {
    const config = loadConfig({}, dirWith('accounts: [{name: a}]'))
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.limits)).toBe(true)
    expect(Object.isFrozen(config.file.accounts[0])).toBe(true)
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError)
  })
})

describe('the file', () => {
  test('a named file that is not there, or is no file, stops the start', () => {
    const text = sentence({ GATEWAY_CONFIG: 'nowhere.yaml' })
    expect(text).toStartWith('GATEWAY_CONFIG: the file /')
    expect(text).toEndWith('nowhere.yaml does not exist.')
    expect(sentence({ GATEWAY_CONFIG: '.' })).toContain('cannot be read')
  })

  test('gateway.yaml in the working directory is taken, with its variables', () => {
    const cwd = dirWith(`region: \${WHERE}`)
    const config = loadConfig({ WHERE: 'eu' }, cwd)
    expect(config.configPath).toBe(join(cwd, 'gateway.yaml'))
    expect(config.file.region).toBe('eu')
  })

  test('a channel of another region stops the start', () => {
    const channel =
      '{name: c, region: eu, keys: [k], protocols: {chat: "http://x"}, models: {a: b}}'
    const cwd = dirWith(`region: cn\nchannels: [${channel}]`)
    const text = sentenceFrom(() => loadConfig({}, cwd))
    expect(text).toStartWith(`${join(cwd, 'gateway.yaml')}:2:`)
    expect(text).toContain("channels[0].region is eu, but this gateway's region is cn")
  })
})

describe('reading the file again', () => {
  test('changes the declarations and nothing else', () => {
    const cwd = dirWith('accounts: [{name: a}]')
    const before = loadConfig({ GATEWAY_PORT: '0' }, cwd)
    writeFileSync(join(cwd, 'gateway.yaml'), `accounts: [{name: "\${WHO}"}]`)
    const after = reloadFile(before, { WHO: 'b', GATEWAY_PORT: '99' }, cwd)
    expect(after.file.accounts).toEqual([{ name: 'b' }])
    expect(after.port).toBe(0)
    expect(before.file.accounts).toEqual([{ name: 'a' }])
    expect(Object.isFrozen(after)).toBe(true)
  })

  test('a file that has appeared is taken', () => {
    const cwd = emptyDir()
    const before = loadConfig({}, cwd)
    writeFileSync(join(cwd, 'gateway.yaml'), 'accounts: [{name: a}]')
    const after = reloadFile(before, {}, cwd)
    expect(after.configPath).toBe(join(cwd, 'gateway.yaml'))
    expect(after.file.accounts).toHaveLength(1)
  })

  test('a wrong or vanished file, another region, currency or place of results change nothing', () => {
    const cwd = dirWith('accounts: [{name: a}]')
    const before = loadConfig({}, cwd)
    for (const text of ['acounts: []', 'region: eu', 'currency: EUR', 'media: {keep: data}']) {
      writeFileSync(join(cwd, 'gateway.yaml'), text)
      expect(() => reloadFile(before, {}, cwd)).toThrow(ConfigError)
    }
    rmSync(join(cwd, 'gateway.yaml'))
    expect(() => reloadFile(before, {}, cwd)).toThrow('does not exist')
    expect(before.file.accounts).toHaveLength(1)
  })
})
