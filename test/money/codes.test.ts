// Codes for credit over real HTTP: shown once, redeemed once however many try, guesses are slowed down.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, nanos } from '../support/read.ts'
import { newPerson, type SignedIn } from '../support/sign-in.ts'

describe.each([...storeKinds])('codes on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  let member: SignedIn
  let rival: SignedIn
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    gateway = await startGateway({
      config: 'accounts: [{ name: acme, balance: "1.00" }, { name: rival, balance: "1.00" }]',
      ...(databaseUrl === undefined && { dataDir }),
      env: {
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
    member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
    rival = await newPerson(gateway, { name: 'rik', role: 'member', account: 'rival' })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  const make = async (body: object) => {
    const made = await gateway.admin('POST', '/codes', body)
    expect(made.status).toBe(201)
    return made.body.items as { id: string; code: string }[]
  }
  const balance = async (name: string) => nanos((await accountOf(gateway, name)).balance)

  test('are made in bulk, and only their making shows them', async () => {
    const made = await make({ amount: '2.50', count: 150, note: 'spring' })
    expect(new Set(made.map(({ code }) => code)).size).toBe(150)
    for (const { code } of made) expect(code).toMatch(/^[A-Z0-9]{12,}$/)
    const { body } = await gateway.admin('GET', '/codes?limit=500')
    expect(body.items.filter(({ state }: { state: string }) => state === 'open')).toHaveLength(150)
    const text = JSON.stringify([body, (await gateway.admin('GET', '/audit-log')).body])
    expect(made.some(({ code }) => text.includes(code))).toBe(false)
  })

  test('are redeemed once, also by two accounts at once', async () => {
    const [made] = await make({ amount: '2.50', note: 'spring' })
    const before = (await balance('acme')) + (await balance('rival'))
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 === 0 ? member : rival).ask('POST', '/codes/redeem', { code: made!.code }),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
    const done = answers.find(({ status }) => status === 200)!
    expect(done.body).toMatchObject({ id: made!.id, amount: '2.50', currency: 'CNY' })
    expect((await balance('acme')) + (await balance('rival'))).toBe(before + nanos('2.50'))
    const { body } = await gateway.admin('GET', '/codes?limit=1')
    expect(body.items[0]).toMatchObject({ id: made!.id, state: 'redeemed' })
    const { body: ledger } = await gateway.admin(
      'GET',
      `/accounts/${body.items[0].account}/ledger?limit=1`,
    )
    const entry = { kind: 'credit', amount: '2.50', note: `code ${made!.id}: spring` }
    expect(ledger.items[0]).toMatchObject(entry)
    const gone = await gateway.admin('DELETE', `/codes/${made!.id}`)
    expect([gone.status, gone.body.error.code]).toEqual([409, 'conflict'])
    expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true })
  })

  test('may be typed with spaces, dashes and small letters', async () => {
    const [made] = await make({ amount: '0.10' })
    const typed = made!.code.toLowerCase().replace(/(.{4})/g, '$1- ')
    expect((await member.ask('POST', '/codes/redeem', { code: typed })).status).toBe(200)
  })

  test('that expired or were withdrawn are worth nothing', async () => {
    const soon = new Date(Date.now() + 4000).toISOString()
    const [late] = await make({ amount: '0.10', expires_at: soon })
    const [withdrawn] = await make({ amount: '0.10' })
    expect((await gateway.admin('DELETE', `/codes/${withdrawn!.id}`)).status).toBe(200)
    await Bun.sleep(Date.parse(soon) + 100 - Date.now())
    const before = await balance('acme')
    expect((await member.ask('POST', '/codes/redeem', { code: late!.code })).status).toBe(409)
    expect((await member.ask('POST', '/codes/redeem', { code: withdrawn!.code })).status).toBe(404)
    expect(await balance('acme')).toBe(before)
    const past = new Date(Date.now() - 1000).toISOString()
    for (const [body, param] of [
      [{ amount: '1.00', expires_at: past }, 'expires_at'],
      [{ amount: '0' }, 'amount'],
      [{ amount: '-1' }, 'amount'],
      [{ amount: '1.00', count: 0 }, 'count'],
      [{ amount: '1.00', count: 100_000 }, 'count'],
      [{ amount: '1.00', codes: 1 }, 'codes'],
    ] as const) {
      const { status, body: told } = await gateway.admin('POST', '/codes', body)
      expect([status, told.error.param]).toEqual([400, param])
    }
  })

  test('are for members to redeem, and for finance to make', async () => {
    const [made] = await make({ amount: '0.10' })
    const finance = await newPerson(gateway, { name: 'fin', role: 'finance' })
    expect((await gateway.admin('POST', '/codes/redeem', made)).status).toBe(400)
    const asked = { code: made!.code }
    expect((await gateway.admin('POST', '/codes/redeem', asked)).status).toBe(403)
    expect((await finance.ask('POST', '/codes/redeem', asked)).status).toBe(403)
    expect((await finance.ask('POST', '/codes', { amount: '1.00' })).status).toBe(201)
    expect((await member.ask('GET', '/codes')).status).toBe(403)
    expect((await member.ask('POST', '/codes', { amount: '1.00' })).status).toBe(403)
  })

  test('cannot be guessed at any speed', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) {
      const code = `AAAAAAAAAAAAAAAAAAA${i + 2}`
      statuses.push((await rival.ask('POST', '/codes/redeem', { code })).status)
    }
    expect(statuses.slice(0, 5)).toEqual([404, 404, 404, 404, 404])
    expect(statuses.at(-1)).toBe(429)
    const [made] = await make({ amount: '0.10' })
    expect((await member.ask('POST', '/codes/redeem', { code: made!.code })).status).toBe(200)
  })
})
