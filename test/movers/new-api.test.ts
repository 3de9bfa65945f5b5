// From new-api: users, tokens, channels and ratios of its database become accounts, tokens, channels and
// prices of a running gateway, whichever database it had.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import {
  askWith,
  chargeOf,
  hasPostgres,
  killAfterWrites,
  move,
  ownDatabase,
  stateOf,
  upstreamAnswer,
} from './move.ts'
import { fillPostgres, makeSqlite } from './new-api-made.ts'
import { keys, mysqlDump } from './new-api-tables.ts'

/** The first build of new-api's own code, where it is wanted. */
const buildLimitMs = 1_200_000
const config = 'currency: USD\n'

let upstream: TestUpstream
let gateway: TestGateway
let file: string
let args: string[]

beforeAll(async () => {
  upstream = startUpstream(({ path }) => upstreamAnswer(path))
  file = join(tempDir(), 'one-api.db')
  makeSqlite(file, upstream.url)
  args = ['new-api', '--database', file]
  gateway = await startGateway({ config })
}, buildLimitMs)

afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

describe('a database of SQLite', () => {
  test('a dry run says what would come of it, and changes nothing', async () => {
    const before = await stateOf(gateway)
    const { report, code, stderr } = await move(gateway, [...args, '--dry-run'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const carried = report.carried.map(({ kind, name, amount }) =>
      `${kind} ${name} ${amount ?? ''}`.trim(),
    )
    expect(carried).toEqual(
      expect.arrayContaining([
        'model house-chat',
        'channel house',
        'account ann',
        'account user-3',
        'credit root 100.00',
        'credit ann 2.469134',
        'price house-chat',
        'price house-chat for user-3',
        'token user-3/token-2',
      ]),
    )
    const left = report.not_carried.map(({ name, reason }) => `${name}: ${reason}`).join('\n')
    for (const part of [
      'per-call: a price per call',
      'no-ratio: the option ModelRatio does not have it',
      'songs: channels of the type 36',
      'gpt-realtime: by its name it is of a kind that is not carried',
      'tts-on-bedrock: by its name it is for speech, which its channel does not serve here',
      'whisper-1: new-api makes tokens of seconds',
      'user 2: a subscription with 1.50 left',
      'ann/key-5: its group svip',
      'GroupGroupRatio',
      'house: only for the groups default, vip',
      'redemptions: 1 codes that are not redeemed, worth 10.00',
    ]) {
      expect(left).toContain(part)
    }
    const changed = report.carried_differently
      .map(({ name, reason }) => `${name}: ${reason}`)
      .join('\n')
    expect(changed).toContain("qwen-big: callers have asked for 'Qwen/Big'")
    expect(changed).toContain('owing: it owes 0.50')
    expect(changed).toContain('house-image-1: a price per call becomes one per image')
    expect(await stateOf(gateway)).toEqual(before)
  })

  test.if(hasPostgres)('PostgreSQL and a dump of MySQL say the same', async () => {
    const dump = join(tempDir(), 'new-api.sql')
    writeFileSync(dump, mysqlDump(upstream.url))
    const database = await ownDatabase()
    await fillPostgres(database, upstream.url)
    const [one, two, three] = [
      await move(gateway, [...args, '--dry-run']),
      await move(gateway, ['new-api', '--database', dump, '--dry-run']),
      await move(gateway, ['new-api', '--database', database.url, '--dry-run']),
    ]
    await database.drop()
    expect(two.stderr + three.stderr).toBe('')
    expect(two.report).toEqual(one.report)
    expect(three.report).toEqual(one.report)
  })

  test('it comes over: credits, budgets, prices of groups, and a caller with its old key gets an answer', async () => {
    const { report, code, stderr } = await move(gateway, args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(report.carried.filter(({ state }) => state !== 'made')).toEqual([])
    const { body: ann } = await gateway.admin('GET', '/accounts/ann')
    expect(ann).toMatchObject({ balance: '2.469134', display_name: 'Ann O\'Neil; "A"' })
    expect((await gateway.admin('GET', '/accounts/owing')).body.balance).toBe('0.00')

    const answer = await askWith(gateway, `sk-${keys.ann}`, 'house-chat')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-gateway-charge')).toBe('0.0035')
    const call = upstream.calls.at(-1)!
    expect(call.path).toBe('/v1/chat/completions')
    expect(call.headers.get('authorization')).toBe('Bearer second-key')
    expect(call.headers.get('x-house')).toBe('1')
    expect(JSON.parse(call.body)).toMatchObject({ model: 'upstream-name', temperature: 0.5 })
    // Four fifths, the ratio of its group.
    const vip = await askWith(gateway, `sk-${keys.vip}`, 'house-chat')
    expect(vip.headers.get('x-gateway-charge')).toBe('0.0028')
    const linear = await askWith(gateway, `sk-${keys.vip}`, 'qwen-big')
    expect(linear.headers.get('x-gateway-charge')).toBe('0.00336')
    for (const [key, status] of [
      [keys.off, 401],
      [keys.expired, 401],
      [keys.banned, 401],
      [keys.spent, 402],
      ['DeletedKey', 401],
    ] as const) {
      expect((await askWith(gateway, `sk-${key}`, 'house-chat')).status).toBe(status)
    }
    const { items: tokens } = (await gateway.admin('GET', '/tokens')).body
    expect(tokens.find(({ name }: { name: string }) => name === 'ci')).toMatchObject({
      ...{ prefix: 'sk-AnnsK', allowed_ips: ['127.0.0.1', '10.0.0.0/8'] },
      budget: { amount: '0.50', per: 'total' },
    })
    const { items: channels } = (await gateway.admin('GET', '/channels')).body
    const cloud = channels.find(({ name }: { name: string }) => name === 'cloud')
    expect(cloud).toMatchObject({
      disabled: true,
      weight: 3,
      auth: { aws: { region: 'eu-west-1' } },
    })
    const { items: prices } = (
      await gateway.admin('GET', '/prices?model=claude-3-5-sonnet-20240620')
    ).body
    // Its code fixes the ratio of output, whatever the option says.
    expect(prices.find((price: { account: null }) => price.account === null).per_million).toEqual({
      ...{ input: '3.00', output: '15.00', cache_write: '3.75' },
    })
  })

  test('models of other kinds come over with their units', async () => {
    const { items } = (await gateway.admin('GET', '/models?limit=500')).body
    const shown = (name: string) => {
      const { kind, interfaces } = items.find((each: { name: string }) => each.name === name)
      return [kind, ...interfaces]
    }
    expect(shown('house-reranker')).toEqual(['rerank', 'rerank'])
    expect(shown('tts-1')).toEqual(['speech', 'speech'])
    expect(shown('whisper-1')).toEqual(['transcription', 'transcriptions'])
    expect(shown('omni-moderation-latest')).toEqual(['moderation', 'moderations'])
    const charge = (path: string, body: object) => chargeOf(gateway, `sk-${keys.ann}`, path, body)
    // A thousand tokens at 0.10 for a million, ten characters at 15, an image at 0.04, and nothing.
    const documents = ['a']
    expect(await charge('/v1/rerank', { model: 'house-reranker', query: 'q', documents })).toBe(
      '0.0001',
    )
    const speech = { model: 'tts-1', input: '0123456789', voice: 'alloy' }
    expect(await charge('/v1/audio/speech', speech)).toBe('0.00015')
    const image = { model: 'house-image-1', prompt: 'a cat' }
    expect(await charge('/v1/images/generations', image)).toBe('0.04')
    const text = { model: 'omni-moderation-latest', input: 'x' }
    expect(await charge('/v1/moderations', text)).toBe('0.00')
  })

  test('a second run changes nothing', async () => {
    const before = await stateOf(gateway)
    const { report } = await move(gateway, args)
    expect(report.carried.filter(({ state }) => state !== 'exists')).toEqual([])
    expect(await stateOf(gateway)).toEqual(before)
    expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
  })
})

test('an import that is killed between its writes is finished by the next', async () => {
  const other = await startGateway({ config })
  try {
    let runs = 0
    while (await killAfterWrites(other, args, (runs % 6) + 2)) runs++
    expect(runs).toBeGreaterThan(3)
    const { items } = (await other.admin('GET', '/accounts/ann/ledger')).body
    expect(items.map(({ amount }: { amount: string }) => amount)).toEqual(['2.469134'])
    expect((await askWith(other, `sk-${keys.ann}`, 'house-chat')).status).toBe(200)
    expect((await other.admin('POST', '/audit')).body.ok).toBe(true)
  } finally {
    await other.stop()
  }
})

test('quota is counted in the unit that its options say, and in the currency of the gateway', async () => {
  const path = join(tempDir(), 'unit.db')
  makeSqlite(path, upstream.url)
  const { Database } = await import('bun:sqlite')
  const database = new Database(path)
  database.run(`INSERT INTO options VALUES ('QuotaPerUnit', '250000')`)
  database.close()
  const other = await startGateway({ config: 'currency: CNY\n' })
  try {
    const unit = ['new-api', '--database', path]
    expect((await move(other, unit)).stderr).toContain('give --exchange')
    const { report } = await move(other, [...unit, '--exchange', '7', '--dry-run'])
    const amounts = report.carried.filter(({ kind }) => kind === 'credit')
    expect(amounts.find(({ name }) => name === 'ann')?.amount).toBe('34.567876')
  } finally {
    await other.stop()
  }
})

test.each<[string, string, string]>([
  ['a database of something else', 'CREATE TABLE other (id int);', 'no database of new-api'],
  ['a text that is no dump', 'hello there', 'neither a database of SQLite nor a dump of MySQL'],
  [
    'a dump that ends in a text',
    "CREATE TABLE `users` (\n`id` int\n);INSERT INTO `users` VALUES ('a",
    'it is not whole',
  ],
])('%s is told in a sentence', async (_, text, sentence) => {
  const path = join(tempDir(), 'dump.sql')
  writeFileSync(path, text)
  const { code, stderr } = await move(gateway, ['new-api', '--database', path])
  expect(code).toBe(2)
  expect(stderr).toContain(sentence)
})
