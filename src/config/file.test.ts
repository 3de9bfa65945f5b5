// Cases for gateway.yaml as text: variables, places of errors, YAML itself, rules across sections.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { schemaPath, schemaText } from '../../scripts/config-schema.ts'
import { checkDeclaration, fileDeclaration, settingName } from '../contract/config-schema/index.ts'
import { ConfigError, type Environment, parseConfigFile } from './file.ts'

const parse = (text: string, env: Environment = {}) => parseConfigFile(text, 'gateway.yaml', env)

function sentence(text: string, env: Environment = {}): string {
  try {
    parse(text, env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message
  }
  throw new Error(`accepted: ${text}`)
}

const variable = (inside: string) => `\${${inside}}`

describe('variables', () => {
  const region = (value: string, env: Environment = {}) => parse(`region: ${value}`, env).region
  const upstreamName = (value: string, env: Environment = {}) =>
    parse(
      `channels: [{name: c, keys: [k], protocols: {chat: "http://x"}, models: {a: '${value}'}}]`,
      env,
    ).channels[0]?.models['a']

  test('a variable, its default, and a doubled dollar sign', () => {
    expect(region(variable('R'), { R: 'eu' })).toBe('eu')
    expect(region(variable('R:-us'), { R: 'eu' })).toBe('eu')
    expect(region(variable('R:-us'))).toBe('us')
    expect(region(variable('R:-us'), { R: '' })).toBe('us')
    expect(region(`a${variable('R')}-${variable('S:-z')}`, { R: 'b' })).toBe('ab-z')
    expect(upstreamName(`$${variable('R')}`, { R: 'b' })).toBe(variable('R'))
    expect(upstreamName('a$b')).toBe('a$b')
  })

  test('what a variable holds is never read as YAML or as another variable', () => {
    const injected = 'x\nregion: eu'
    expect(sentence(`accounts: [{name: "${variable('N')}"}]`, { N: injected })).toStartWith(
      'gateway.yaml:1:19: accounts[0].name must be',
    )
    expect(upstreamName(variable('A'), { A: variable('B'), B: 'secret' })).toBe(variable('B'))
  })

  test('a missing variable is an error with its line and setting', () => {
    expect(sentence(`region: cn\naccounts:\n  - name: ${variable('WHO')}`)).toBe(
      'gateway.yaml:3:11: accounts[0].name needs the environment variable WHO, which is not set',
    )
    expect(sentence(`region: ${variable('constructor')}`)).toContain('constructor')
  })

  test('e-mail is declared only where it can be sent', () => {
    const text = 'webhooks:\n  - { email: ops@mail.example, events: [bill.closed] }'
    const from = { GATEWAY_SMTP_FROM: 'gateway@mail.example' }
    expect(sentence(text, from)).toBe(
      'gateway.yaml:2:7: webhooks[0].email needs the environment variable GATEWAY_SMTP_URL, which is not set',
    )
    const both = { ...from, GATEWAY_SMTP_URL: 'smtp://mail.example' }
    expect(parse(text, both).webhooks[0]?.email).toBe('ops@mail.example')
  })

  test('a broken reference is an error', () => {
    for (const broken of [variable(''), variable('1A'), variable('A-b'), '$' + '{A']) {
      expect(sentence(`region: ${broken}`)).toStartWith(
        'gateway.yaml:1:9: region has a dollar sign',
      )
    }
  })

  test('a value from a file, without the newline at its end', () => {
    const dir = mkdtempSync(join(tmpdir(), 'gateway-secret-'))
    const write = (name: string, bytes: string | Uint8Array) =>
      writeFileSync(join(dir, name), bytes)
    const read = (name: string) =>
      parseConfigFile(`region: ${variable(`file:${name}`)}`, join(dir, 'gateway.yaml'), {}).region
    write('unix', 'eu\n')
    write('dos', 'us\r\n')
    write('bare', 'cn')
    expect(['unix', 'dos', 'bare', join(dir, 'unix')].map(read)).toEqual(['eu', 'us', 'cn', 'eu'])
    write('more', 'a\n\n')
    write('binary', new Uint8Array([0xff, 0xfe]))
    write('large', 'x'.repeat(65 * 1024))
    const problem = (name: string) => {
      const message = sentence(`a: 1\nregion: ${variable(`file:${join(dir, name)}`)}`)
      return message.slice(message.indexOf('which'))
    }
    expect(problem('none')).toBe('which cannot be read (ENOENT)')
    expect(problem('')).toBe('which is not a plain file')
    expect(problem('binary')).toBe('which is not UTF-8 text')
    expect(problem('large')).toBe('which is larger than 65536 bytes')
    expect(sentence(`a: 1\nregion: ${variable('file:/none/x')}`)).toBe(
      'gateway.yaml:2:9: region needs the file /none/x, which cannot be read (ENOENT)',
    )
    // Only one newline is dropped, and the content is in no message.
    expect(sentence(`region: ${variable(`file:${join(dir, 'more')}`)}`)).not.toContain('a\n')
    rmSync(dir, { recursive: true })
  })

  test('keys stay as written', () => {
    expect(sentence(`"${variable('A')}": 1`, { A: 'region' })).toContain('is not a known key')
  })

  test('a number may come from a variable, but money stays text', () => {
    const file = parse(
      `tokens: [{account: a, name: b, limits: {rpm: "${variable('RPM')}"}}]\n` +
        `accounts: [{name: a, balance: "${variable('BALANCE')}"}]`,
      { RPM: '60', BALANCE: '100' },
    )
    expect(file.tokens[0]?.limits?.rpm).toBe(60)
    expect(file.accounts[0]?.balance).toBe('100')
    const limits = `tokens: [{account: a, name: b, limits: {rpm: "${variable('RPM')}"}}]`
    expect(sentence(limits, { RPM: 'many' })).toContain('limits.rpm must be a number')
    expect(sentence(limits, { RPM: '0' })).toContain('limits.rpm must be at least 1')
    const balance = `accounts: [{name: a, balance: "${variable('BALANCE')}"}]`
    expect(sentence(balance, { BALANCE: '-1' })).toContain('balance must be a decimal')
    expect(sentence('tokens: [{account: a, name: b, limits: {rpm: "60"}}]')).toContain('limits.rpm')
  })
})

describe('places', () => {
  test('an unknown key is shown with line, column and nearest known name', () => {
    expect(sentence('region: cn\nchanels: []')).toBe(
      'gateway.yaml:2:1: chanels is not a known key; did you mean "channels"?',
    )
    expect(sentence('accounts:\n  - nmae: acme')).toBe(
      'gateway.yaml:2:5: accounts[0].nmae is not a known key; did you mean "name"?',
    )
  })

  test('a wrong value is shown where it stands', () => {
    expect(sentence('accounts:\n  - name: a\n    balance: 100.50')).toBe(
      'gateway.yaml:3:14: accounts[0].balance must be a quoted decimal: ' +
        'write "100.5" instead of 100.5',
    )
    expect(sentence('tokens:\n  - account: a')).toBe('gateway.yaml:2:5: tokens[0].name is missing')
  })

  test('places are found through aliases', () => {
    expect(sentence('accounts: [&a {name: x}]\ntokens: [*a]')).toBe(
      'gateway.yaml:2:10: tokens[0].account is missing',
    )
    expect(sentence('accounts: [&a {name: x, balance: "1"}]\ntokens: [*a]')).toStartWith(
      'gateway.yaml:1:25: tokens[0].balance is not a known key',
    )
    expect(sentence('accounts:\n  - name: &n a\n  - name: *n')).toBe(
      'gateway.yaml:3:11: accounts[1].name is used twice',
    )
  })

  test('the first wrong place is the one reported', () => {
    expect(sentence('currency: x\nregion: X')).toStartWith('gateway.yaml:1:11: currency')
  })
})

describe('YAML', () => {
  test('an empty file and empty sections declare nothing', () => {
    expect(parse('').channels).toEqual([])
    expect(parse('# only a comment\n').currency).toBe('CNY')
    expect(parse('channels:\n  # - name: a\nregion: eu').region).toBe('eu')
  })

  test('JSON is YAML', () => {
    expect(parse('{"region": "eu", "accounts": [{"name": "a"}]}').accounts).toEqual([{ name: 'a' }])
  })

  test('broken text, repeated keys, tags, aliases without an anchor and a second document', () => {
    expect(sentence('accounts: [')).toStartWith('gateway.yaml:1:12: YAML: ')
    expect(sentence('region: cn\nregion: cn')).toStartWith('gateway.yaml:2:1: ')
    expect(sentence('region: !secret-tag x')).not.toContain('secret-tag')
    expect(sentence('region: *secret-alias')).not.toContain('secret-alias')
    expect(sentence('region: cn\n---\nregion: eu')).toContain('single YAML document')
    expect(sentence('- a')).toContain('set of settings')
  })

  test('aliases cannot be multiplied without bound', () => {
    const rows = ['a0: &a0 [x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 9; i++) {
      rows.push(
        `a${i}: &a${i} [${Array(8)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    }
    expect(sentence(rows.join('\n'))).toContain('alias')
  })

  test('secrets stay out of the sentence', () => {
    const token = 'sk-short-secret'
    expect(sentence(`tokens: [{account: a, name: b, token: ${token}}]`)).not.toContain(token)
    expect(sentence('callbacks: {secret: hunter2hunter2}')).not.toContain('hunter2')
    const address = 'protocols: {chat: "https://me:hunter2@up.example"}'
    const channel = `{name: c, keys: [k], ${address}, models: {a: "*"}}`
    expect(sentence(`channels: [${channel}]`)).not.toContain('hunter2')
  })
})

/** 'setting message' of every problem, or [] when the declaration is fine. */
function problemsOf(value: unknown): string[] {
  const result = checkDeclaration(fileDeclaration, value)
  if ('value' in result) return []
  return result.problems.map((problem) => `${settingName(problem.path)} ${problem.message}`)
}

const channel = {
  name: 'cloud-a',
  keys: ['k1'],
  protocols: { chat: 'https://up.example/v1' },
  models: { 'txta-*': '*' },
}

describe('rules across sections', () => {
  test('nothing declared means the defaults', () => {
    expect(parse('{}')).toEqual({
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
    })
  })

  test('names are used once, token names once per account, secrets once', () => {
    const token = `sk-${'a'.repeat(24)}`
    const image = { model: 'm', unit: 'image', per_image: '1' }
    const model = { name: 'm', kind: 'text', interfaces: ['chat'] }
    expect(
      problemsOf({
        accounts: [{ name: 'a' }, { name: 'a' }],
        tokens: [
          { account: 'a', name: 't', token },
          { account: 'b', name: 't', token },
          { account: 'a', name: 't' },
        ],
        channels: [channel, channel],
        models: [model, model],
        prices: [image, { ...image, effective_from: '2027-01-01T00:00:00Z' }, image],
      }).sort(),
    ).toEqual([
      'accounts[1].name is used twice',
      'channels[1].name is used twice',
      'models[1].name is used twice',
      'prices[2].model is used twice',
      'tokens[1].token is used twice',
      'tokens[2].name is used twice',
    ])
  })

  test('a channel of another region is refused', () => {
    expect(problemsOf({ channels: [{ ...channel, region: 'eu' }] })).toEqual([
      "channels[0].region is eu, but this gateway's region is cn",
    ])
    expect(problemsOf({ region: 'eu', channels: [{ ...channel, region: 'eu' }] })).toEqual([])
  })

  test('kept results need a place, a size with its unit and whole days', () => {
    const s3 = {
      endpoint: 'http://10.0.0.5:9000',
      region: 'us-east-1',
      bucket: 'films',
      access_key: 'AKID',
      secret_key: 'hunter2hunter2',
    }
    const fine = [
      { keep: 'data' },
      { keep: 'data', budget: '1.5TB', days: 1, s3 },
      { keep: 's3', s3: { ...s3, prefix: 'a/b-', path_style: false } },
    ]
    for (const media of fine) expect(problemsOf({ media })).toEqual([])
    const wrong = [
      [{}, 'media.keep must be one of data, s3'],
      [{ keep: 's3' }, 'media.s3 must be given, because results are kept there'],
      [{ keep: 'data', budget: 20 }, 'media.budget must be a size with its unit'],
      [{ keep: 'data', budget: '20' }, 'media.budget must be a size above 0 with its unit'],
      [{ keep: 'data', budget: '0GB' }, 'media.budget must be a size above 0 with its unit'],
      [{ keep: 'data', days: 0 }, 'media.days must be at least 1'],
      [{ keep: 'data', dayz: 3 }, 'media.dayz is not a known key; did you mean "days"?'],
      [{ keep: 's3', s3: { ...s3, prefix: '../a' } }, 'media.s3.prefix must be letters, digits'],
      [
        { keep: 's3', s3: { ...s3, bucket: 'a b' } },
        'media.s3.bucket must be the name of a bucket',
      ],
    ] as const
    for (const [media, sentence] of wrong) {
      const [problem = ''] = problemsOf({ media })
      expect(problem).toStartWith(sentence)
      expect(problem).not.toContain('hunter2')
    }
  })

  test('a callback secret is whsec_ and the base64 of 24 to 64 bytes', () => {
    const problemsWith = (secret: string) => problemsOf({ callbacks: { secret } })
    const sized = (bytes: number) => `whsec_${Buffer.alloc(bytes, 0xfb).toString('base64')}`
    for (const bytes of [24, 25, 26, 32, 63, 64]) expect(problemsWith(sized(bytes))).toEqual([])
    const malformed = ['', 'whsec_', 'whsec_a', `whsec_${'*'.repeat(32)}`, sized(32).slice(6)]
    const unpadded = sized(32).replace('=', '')
    const urlSafe = `whsec_${'_-'.repeat(16)}`
    for (const bad of [...malformed, unpadded, urlSafe, ...[1, 22, 23, 65, 66, 96].map(sized)]) {
      expect([bad, problemsWith(bad)]).toEqual([
        bad,
        ['callbacks.secret must be whsec_ and the base64 of 24 to 64 bytes'],
      ])
    }
  })
})

describe('what ships beside the code', () => {
  test('gateway.schema.json is what scripts/config-schema.ts writes', () => {
    expect(readFileSync(schemaPath, 'utf8')).toBe(schemaText())
  })

  test('the example parses and names its schema', () => {
    const text = readFileSync(new URL('../../examples/gateway.yaml', import.meta.url), 'utf8')
    expect(text).toStartWith('# yaml-language-server: $schema=../gateway.schema.json\n')
    const file = parse(text)
    expect(file.channels.map((channel) => channel.name)).toEqual(['cloud-a', 'cloud-b'])
    expect(file.prices.map((price) => price.unit)).toContain('video_token')
  })
})
