// The life of a price over real HTTP: scheduled, told to customers and subscribers, withdrawn, in force, past.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'
import { until } from '../support/read.ts'
import { newPerson } from '../support/sign-in.ts'

const terms = (input: string) => ({ unit: 'token', per_million: { input, output: '9.00' } })
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

describe.each([...storeKinds])('a price on %s', (engine) => {
  let place: Place
  let receiver: NoticeReceiver
  let gateways: TestGateway[]
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    receiver = startReceiver()
    const { dataDir, databaseUrl } = place.options
    const start = () =>
      startGateway({
        config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
prices: [{ model: imga-edit, unit: image, per_image: "9", effective_from: "${inDays(9)}" }]
`,
        dataDir,
        env: {
          GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
          GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
          ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
        },
      })
    gateways = [await start()]
    if (engine === 'postgres') gateways.push(await start())
    gateway = gateways[0]!
    const hook = { url: receiver.url(), events: ['price.changed'] }
    receiver.knows('/hook', (await gateway.admin('POST', '/webhooks', hook)).body.secret)
  })
  afterAll(async () => {
    for (const each of gateways) expect(await each.stop()).toBe(0)
    receiver.stop()
    await place.remove()
  })

  const versions = async (at = gateway) =>
    (await at.admin('GET', '/prices?model=txta-plus&limit=100')).body.items
  const paid = async () =>
    (await gateway.admin('GET', '/accounts/acme/prices?model=txta-plus')).body.items[0]

  test('that is scheduled is told, shown as what comes next, and can be withdrawn', async () => {
    const from = inDays(5)
    const made = await gateway.admin('POST', '/prices', {
      model: 'txta-plus',
      ...terms('7.00'),
      effective_from: from,
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ state: 'scheduled', current: false, created_by: 'admin' })
    expect((await paid()).next).toMatchObject({ effective_from: from, ...terms('7.00') })
    const member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
    const shown = await member.ask('GET', '/accounts/acme/prices?model=txta-plus')
    expect(shown.body.items[0].next.effective_from).toBe(from)
    const gone = await gateway.admin('DELETE', `/prices/${made.body.id}`)
    expect([gone.status, gone.body]).toEqual([200, { id: made.body.id, deleted: true }])
    expect((await paid()).next).toBeNull()
    for (const at of gateways) {
      await until('it is gone everywhere', async () =>
        (await versions(at)).some(({ id }: { id: string }) => id === made.body.id)
          ? undefined
          : true,
      )
    }
    expect((await gateway.admin('DELETE', `/prices/${made.body.id}`)).status).toBe(404)
    await receiver.first(({ data }) => data.withdrawn === true)
    await receiver.first(({ data }) => data.withdrawn === false)
    const data = receiver.ofType('price.changed').map((notice) => notice.data)
    const change = { model: 'txta-plus', account: null, effective_from: from }
    expect(data.find(({ withdrawn }) => withdrawn === false)).toMatchObject({
      ...change,
      after: terms('7.00'),
      before: { unit: 'token' },
    })
    expect(data.find(({ withdrawn }) => withdrawn === true)).toMatchObject({
      ...change,
      before: terms('7.00'),
      after: { unit: 'token' },
    })
  })

  test('that is in force or past stays, as do those of the file', async () => {
    const first = await gateway.admin('POST', '/prices', { model: 'txta-plus', ...terms('5.00') })
    const second = await gateway.admin('POST', '/prices', { model: 'txta-plus', ...terms('6.00') })
    const states = (await versions()).map(({ id, state }: { id: string; state: string }) => [
      id,
      state,
    ])
    expect(new Map(states).get(first.body.id)).toBe('past')
    expect(new Map(states).get(second.body.id)).toBe('in_force')
    for (const { body } of [first, second]) {
      const refused = await gateway.admin('DELETE', `/prices/${body.id}`)
      expect([refused.status, refused.body.error.code]).toEqual([409, 'price_in_force'])
    }
    const builtIn = (await gateway.admin('GET', '/prices?model=txta-turbo')).body.items[0]
    const kept = await gateway.admin('DELETE', `/prices/${builtIn.id}`)
    expect([builtIn.source, kept.status, kept.body.error.code]).toEqual([
      ...['builtin', 409, 'price_in_force'],
    ])
    const { body } = await gateway.admin('GET', '/prices?model=imga-edit')
    const ofFile = body.items.find(({ source }: { source: string }) => source === 'file')
    expect(ofFile).toMatchObject({ state: 'scheduled', created_by: null })
    const refused = await gateway.admin('DELETE', `/prices/${ofFile.id}`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
  })

  test('of an account comes next for that account alone', async () => {
    const from = inDays(3)
    const own = { model: 'txta-plus', account: 'acme', ...terms('1.00'), effective_from: from }
    expect((await gateway.admin('POST', '/prices', own)).status).toBe(201)
    await gateway.admin('POST', '/accounts', { name: `other-${engine}` })
    expect((await paid()).next).toMatchObject({ effective_from: from })
    const { body } = await gateway.admin('GET', `/accounts/other-${engine}/prices?model=txta-plus`)
    expect(body.items[0].next).toBeNull()
  })
})
