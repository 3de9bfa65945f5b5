// Who an account is and who sends its bills, over real HTTP on both stores: profiles in any script, the
// issuer, numbers without gaps, and both parties on a closed bill as they were then.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fileDeclaration } from '../../src/contract/config-schema/index.ts'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { openPast } from '../support/data/past-months.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { newPerson } from '../support/sign-in.ts'

const month = monthPlus(monthAt(Date.now()), -2)
const names = ['north', 'south', 'east', 'west', 'empty']
const profile = {
  display_name: '北方科技 Ромашка',
  legal_name: 'Северная Звезда GmbH & Co. KG',
  address: '1 Example Street\nExampleton',
  tax_id: 'EX-123',
  email: 'bills@north.example',
  contact: 'Ada Example',
}
const config = `
accounts: [{ name: acme, balance: "1.00", display_name: "Acme Ltd" }]
top_up: { text: "Send a wire with your name.", url: "https://pay.example/?of={account}" }
`

describe.each([...storeKinds])('customers on %s', (engine) => {
  let place: Place
  let gateways: TestGateway[]
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    const store = await place.open()
    for (const name of names.slice(0, -1)) {
      const amountNanos = 5_000_000_000n
      await openPast(store, name, [{ month, kind: 'credit', amountNanos, note: 'wire' }])
    }
    await openPast(store, 'empty', [])
    await store.close()
    const { dataDir, databaseUrl } = place.options
    const start = () =>
      startGateway({
        config,
        dataDir,
        env: {
          GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
          ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
        },
      })
    gateways = [await start()]
    if (engine === 'postgres') gateways.push(await start())
    gateway = gateways[0]!
  })
  afterAll(async () => {
    for (const each of gateways) expect(await each.stop()).toBe(0)
    await place.remove()
  })

  const change = (name: string, body: object) => gateway.admin('PATCH', `/accounts/${name}`, body)
  const found = async (text: string) => {
    const { body } = await gateway.admin('GET', `/accounts?search=${encodeURIComponent(text)}`)
    return body.items.map(({ name }: { name: string }) => name)
  }

  test('have names in any script, by which they are found', async () => {
    const { status, body } = await change('north', profile)
    expect(status).toBe(200)
    expect(body).toMatchObject(profile)
    for (const text of ['Ромашка', '科技', 'nobody', 'ex-123', 'Звезда', 'NORTH.example']) {
      expect([text, await found(text)]).toEqual([text, text === 'nobody' ? [] : ['north']])
    }
    const { body: hits } = await gateway.admin('GET', `/search?q=${encodeURIComponent('Ромашка')}`)
    expect(JSON.stringify(hits)).toContain('"north"')
    const { body: cleared } = await change('north', { tax_id: null })
    expect(cleared).toMatchObject({ ...profile, tax_id: null })
    expect((await change('north', { tax_id: 'EX-123' })).status).toBe(200)
  })

  test('are corrected by finance, who change nothing else of an account', async () => {
    const fay = await newPerson(gateway, { name: 'fay-of-books', role: 'finance' })
    const patch = (body: object) => fay.ask('PATCH', '/accounts/south', body)
    const { status, body } = await patch({ legal_name: 'South & Co.', tax_id: 'EX-5' })
    expect([status, body.legal_name, body.tax_id]).toEqual([200, 'South & Co.', 'EX-5'])
    expect((await fay.ask('GET', '/accounts/south')).body).toMatchObject({ tax_id: 'EX-5' })
    for (const other of [
      { tag_names: ['team'] },
      { legal_name: 'Other', budget: null },
      { require: null },
    ]) {
      const refused = await patch(other)
      expect([other, refused.status, refused.body.error.code]).toEqual([
        other,
        403,
        'not_permitted',
      ])
    }
    expect((await patch({ legal_name: null, tax_id: null })).body.legal_name).toBeNull()
  })

  test('are told what is wrong with a field, and nothing changes', async () => {
    for (const [body, param] of [
      [{ display_name: '' }, 'display_name'],
      [{ display_name: '名'.repeat(121) }, 'display_name'],
      [{ display_name: 'two\nlines' }, 'display_name'],
      [{ address: 'x'.repeat(501) }, 'address'],
      [{ address: 'a\u0000b' }, 'address'],
      [{ email: 'not an address' }, 'email'],
      [{ legal_name: 5 }, 'legal_name'],
      [{ nickname: 'x' }, 'nickname'],
    ] as const) {
      const { status, body: told } = await change('south', body)
      expect([status, told.error.param]).toEqual([400, param])
    }
    expect((await change('south', { display_name: '名'.repeat(120) })).status).toBe(200)
    const ofFile = await change('acme', { display_name: 'Other' })
    expect([ofFile.status, ofFile.body.error.param]).toEqual([409, 'display_name'])
    const { body } = await gateway.admin('GET', '/accounts/acme')
    expect([body.display_name, body.legal_name]).toEqual(['Acme Ltd', null])
  })

  test('get bills with a number, in the order of closing, and both parties as they were', async () => {
    const issuer = { name: '示例有限公司', address: '2 Example Road', tax_id: 'IS-1' }
    const wrong = await gateway.admin('PUT', '/issuer', { address: 'x' })
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'name'])
    expect((await gateway.admin('PUT', '/issuer', issuer)).status).toBe(200)
    expect((await gateway.admin('GET', '/issuer')).body).toEqual({ issuer, source: 'api' })
    // All at once, each at any gateway.
    const closed = await Promise.all(
      names.map((account, i) =>
        gateways[i % gateways.length]!.admin('POST', '/bills/close', { account, month }),
      ),
    )
    expect(closed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const numbers = closed.map(({ body }) => body.number).toSorted()
    expect(numbers).toEqual([1, 2, 3, 4, 5].map((n) => `${month}-000${n}`))
    const again = await gateway.admin('POST', '/bills/close', { account: 'north', month })
    expect(again.body.number).toBe(closed[0]!.body.number)
    await change('north', { legal_name: 'Another name' })
    await gateway.admin('PUT', '/issuer', { name: 'Another issuer' })
    const { body: bill } = await gateway.admin('GET', `/bills?account=north&month=${month}`)
    expect(bill).toMatchObject({ issuer, customer: { name: 'north', ...profile }, differences: [] })
    const { body: open } = await gateway.admin('GET', '/bills?account=north')
    expect(open).toMatchObject({
      number: null,
      issuer: { name: 'Another issuer' },
      customer: { legal_name: 'Another name' },
    })
    const { body: link } = await gateway.admin('POST', `/bills/link?account=north&month=${month}`)
    const page = await (await fetch(link.url.replace(/^https?:\/\/[^/]+/, gateway.url))).text()
    for (const text of [
      bill.number,
      issuer.name,
      'Северная Звезда GmbH &#38; Co. KG',
      'Exampleton',
    ]) {
      expect(page).toContain(text)
    }
  })

  test('are told how to add money', async () => {
    const member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'north' })
    expect((await member.ask('GET', '/session')).body.top_up).toEqual({
      text: 'Send a wire with your name.',
      url: 'https://pay.example/?of=north',
    })
    expect((await gateway.admin('GET', '/session')).body.top_up).toBeNull()
  })
})

test.each([
  [{ issuer: { address: 'x' } }, 'issuer.name'],
  [{ top_up: { url: 'javascript:alert(1)' } }, 'top_up.url'],
  [{ top_up: {} }, 'top_up'],
  [{ accounts: [{ name: 'a', display_name: '' }] }, 'accounts.0.display_name'],
])('a file with %j is refused', (file, path) => {
  const { issues = [] } = fileDeclaration.safeParse(file).error ?? {}
  expect(issues.map((issue) => issue.path.join('.'))).toEqual([path])
})
