// docs/money/bills.md, run by an account that has been there for months; and the closed bill that
// docs/run/admin-api.md shows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { insertToken } from '../../src/store/catalog/tokens.ts'
import { newPlace, type Place } from '../../src/store/test-stores.ts'
import { openPast, type PastEntry } from '../support/data/past-months.ts'
import { differences } from '../support/docs/answers.ts'
import { examplesIn, kindOf, renamed } from '../support/docs/fences.ts'
import { fencesOf } from '../support/docs/pages.ts'
import { type PageStage, stageOf, todaysNames, tryExample } from '../support/docs/stages.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const page = 'docs/money/bills.md'
const names = todaysNames()
const [september, october] = ['2026-09', '2026-10'].map((month) => names.get(month)!) as [
  string,
  string,
]
const charge = { kind: 'charge', model: 'vfa-2.7-t2v', unit: 'video_second' } as const
const note = 'double booking of 2026-09'
const past: PastEntry[] = [
  { month: september, kind: 'credit', amountNanos: 5_000_000_000_000n, note: 'opening balance' },
  { month: september, ...charge, tokenId: 'tok_2', quantity: 2, amountNanos: -1_000_000_007n },
  {
    month: october,
    kind: 'charge',
    model: 'txta-plus',
    unit: 'token',
    tokenId: 'tok_1',
    quantity: 25,
    amountNanos: -34_400n,
  },
  {
    month: october,
    ...charge,
    tokenId: 'tok_2',
    quantity: 2,
    amountNanos: -1_203_000_000_123n,
    estimated: true,
  },
  { month: october, kind: 'adjust', amountNanos: -12_500_000_000n, note: renamed(note, names) },
]
const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: ci, token: ${apiToken} }]
`

let place: Place
let gateway: TestGateway
let stage: PageStage
beforeAll(async () => {
  place = await newPlace('sqlite')
  const store = await place.open()
  const accountId = await openPast(store, 'acme-old', past)
  for (const [id, name] of [
    ['tok_1', 'ci'],
    ['tok_2', 'studio'],
  ] as const) {
    const token = {
      id,
      accountId,

      name,
      prefix: 'sk-aHp5Q',
      models: ['*'],
    }
    const rest = { limits: {}, allowedIps: [], disabled: false, source: 'api' } as const
    await store.tx((tx) => insertToken(tx, { ...token, ...rest, hash: id, createdAtMs: 1 }))
  }
  await store.close()
  gateway = await startGateway({ config, dataDir: place.options.dataDir })
  stage = stageOf(gateway, page, apiToken)
  await (await gateway.chat('Hello!')).text()
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await place.remove()
})

describe(page, () => {
  test.each(examplesIn(fencesOf(page), ['run']))(
    'line $line: the example runs and prints what it says',
    (example) => tryExample(stage, example),
  )

  test('ends with a closed bill as docs/run/admin-api.md shows it', async () => {
    const { body } = await gateway.admin('GET', `/bills?account=acme-old&month=${september}`)
    const shown = fencesOf('docs/run/admin-api.md').find((fence) => kindOf(fence) === 'json bill')
    const here = new Map([...names, ['acc_01a1ddc4d18b542a948001', body.account_id as string]])
    expect(differences(JSON.parse(renamed(shown!.text, here)), body)).toEqual([])
  })
})
