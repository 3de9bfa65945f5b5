// A month is closed, numbered, rendered and sent by gateways that are killed in the middle of each, on both stores: no
// bill is missing, no number is skipped or given twice, and a mail that comes twice is the same message.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { monthAt, monthPlus } from '../../src/lib/text/month.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { openPast } from '../support/data/past-months.ts'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type MailServerForTests, startMailServer } from '../support/mail-server.ts'
import { unzip } from '../support/unzip.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: killed months on PostgreSQL (set TEST_POSTGRES_URL)')
}

const month = monthPlus(monthAt(Date.now()), -2)
const film = { kind: 'charge', model: 'film', unit: 'video_second', tokenId: 'tok_old' } as const
const past = [
  { month, kind: 'credit', amountNanos: 5_000_000_000n, note: 'wire 1' },
  { month, ...film, quantity: 4.5, amountNanos: -1_000_000_007n },
] as const

/** More than one call closes or sends, so that it goes on with a cursor. */
const sizes = { sqlite: 52, postgres: 12 } as const

let server: MailServerForTests
beforeAll(async () => {
  server = await startMailServer({ hideSTARTTLS: true })
})
afterAll(() => server.stop())

/** All pages; a gateway that dies ends them. */
async function allPages(gateway: TestGateway, path: string): Promise<void> {
  let cursor: string | null = null
  do {
    const body = { month, ...(cursor !== null && { cursor }) }
    const answer = await gateway.admin('POST', path, body)
    expect(answer.status).toBe(200)
    cursor = answer.body.next_cursor
  } while (cursor !== null)
}

const openArchive = (gateway: TestGateway) =>
  fetch(`${gateway.url}/admin/v1/bills/archive?month=${month}`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })

describe.each([...storeKinds])('a month on %s', (engine) => {
  const count = sizes[engine]
  const names = Array.from({ length: count }, (_, n) => `many-${1_000 + n}`)
  let place: Place
  const start = (env: Record<string, string> = {}) => {
    const { dataDir, databaseUrl } = place.options
    return startGateway({
      dataDir,
      env: {
        GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        GATEWAY_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
        GATEWAY_SMTP_FROM: 'bills@mail.example',
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
        ...env,
      },
    })
  }
  /** Starts one that dies there while it does this. */
  async function dying(point: string, path: string): Promise<void> {
    const doomed = await start({ GATEWAY_CRASH_AT: point })
    await allPages(doomed, path).catch(() => {})
    await doomed.exited
  }
  const numbers = async (gateway: TestGateway): Promise<string[]> => {
    const files = unzip(await (await openArchive(gateway)).bytes())
    expect(files.size).toBe(count + 1)
    return [...files.keys()].flatMap((name) => /^\d{4}-\d{2}-\d{4}(?=-)/.exec(name)?.[0] ?? [])
  }

  test('has no gap and no double after kills at closing, numbering, rendering and sending', async () => {
    server.mails.splice(0)
    place = await newPlace(engine)
    const store = await place.open()
    for (const name of names) {
      const id = await openPast(store, name, past)
      const email = `${name}@books.example`
      await store.tx((tx) =>
        tx.updateTable('accounts').set({ email }).where('id', '=', id).execute(),
      )
    }
    await store.close()
    // Before the commit of the third, and after that of the next but one: numbers are drawn in it.
    await dying('month-closing:3', '/bills/close-all')
    await dying('month-closed:3', '/bills/close-all')
    const halfway = await start({ GATEWAY_SMTP_URL: '', GATEWAY_SMTP_FROM: '' })
    expect((await numbers(halfway)).toSorted()).toEqual(
      [1, 2, 3, 4, 5].map((n) => `${month}-000${n}`),
    )
    const unable = await halfway.admin('POST', '/bills/send-all', { month })
    expect([unable.status, unable.body.error.message]).toEqual([
      400,
      expect.stringMatching(/^e-mail cannot be sent: GATEWAY_SMTP_URL and GATEWAY_SMTP_FROM/),
    ])
    await allPages(halfway, '/bills/close-all')
    const reader = (await openArchive(halfway)).body!.getReader()
    await reader.read()
    expect(await halfway.stop('SIGKILL')).toBeNull()
    // Its mail server has not got the second one, then has got it and the gateway has not written that down.
    await dying('bill-sending:2', '/bills/send-all')
    await dying('bill-sent:2', '/bills/send-all')
    const gateway = await start()
    await allPages(gateway, '/bills/send-all')
    await allPages(gateway, '/bills/close-all')
    await allPages(gateway, '/bills/send-all')
    expect((await numbers(gateway)).toSorted()).toEqual(
      names.map((_, n) => `${month}-${String(n + 1).padStart(4, '0')}`),
    )
    const sent = new Map<string, string[]>()
    for (const { to, headers } of server.mails) {
      sent.set(to.join(), [...(sent.get(to.join()) ?? []), headers.get('message-id')!])
    }
    expect([...sent.keys()].toSorted()).toEqual(names.map((name) => `${name}@books.example`))
    const twice = [...sent.values()].filter((ids) => ids.length > 1)
    expect(twice).toHaveLength(1)
    expect(new Set(twice[0]).size).toBe(1)
    const counts = { closed: count, sent: count, left: 0, failed: 0 }
    expect((await gateway.admin('GET', `/bills/mails?month=${month}`)).body).toMatchObject(counts)
    for (const action of ['bill.close', 'bill.send']) {
      const { body } = await gateway.admin('GET', `/audit-log?action=${action}&limit=500`)
      expect([action, body.items.length]).toEqual([action, count])
    }
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })
})
