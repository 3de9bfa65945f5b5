// Refunds over real HTTP: linked to a request or task, never more than its charge however many ask at
// once, and found in ledger, bill, receipts, budgets, explanation and audit.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { adminToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { accountOf, nanos, requestIdOf, rowOf, until } from '../support/read.ts'

describe.each([...storeKinds])('refunds on %s', (engine) => {
  let place: Place
  let gateways: TestGateway[]
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    const start = () =>
      startGateway({
        ...(databaseUrl === undefined && { dataDir }),
        env: {
          GATEWAY_SANDBOX_TASK_SECONDS: '0.2',
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

  /** A call that is charged. */
  async function charged(): Promise<{ id: string; charge: bigint }> {
    const answer = await gateway.chat('hello [[sim:tokens=100]]')
    await answer.text()
    const id = requestIdOf(answer)
    return { id, charge: nanos((await rowOf(gateway, id)).charge) }
  }
  const refund = async (id: string, body: object, headers = {}, at = gateway) => {
    const response = await fetch(`${at.url}/admin/v1/requests/${id}/refunds`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${adminToken}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    })
    // biome-ignore lint/suspicious/noExplicitAny: refunds and errors
    return { status: response.status, body: (await response.json()) as any }
  }

  test('all of a charge goes back, once', async () => {
    const { id, charge } = await charged()
    const before = nanos((await accountOf(gateway)).balance)
    const { status, body } = await refund(id, { reason: 'cut off' })
    expect(status).toBe(201)
    expect([nanos(body.amount), nanos(body.refunded)]).toEqual([charge, charge])
    expect(nanos((await accountOf(gateway)).balance)).toBe(before + charge)
    expect(nanos((await gateway.admin('GET', `/requests/${id}`)).body.refunded)).toBe(charge)
    const { body: ledger } = await gateway.admin('GET', '/accounts/acme/ledger?limit=1')
    expect(ledger.items).toMatchObject([
      {
        id: body.entry_id,
        kind: 'refund',
        amount: body.amount,
        request_id: id,
        model: 'txta-plus',
        note: 'cut off',
        refund_of: id,
      },
    ])
    const again = await refund(id, { reason: 'once more' })
    expect([again.status, again.body.error.code]).toEqual([409, 'nothing_to_refund'])
    const more = await refund(id, { amount: '0.000000001', reason: 'once more' })
    expect([more.status, more.body.error.code]).toEqual([409, 'refund_exceeds_charge'])
  })

  test('parts go back until nothing is left, and the explanation tells of each', async () => {
    const { id, charge } = await charged()
    const part = '0.00001'
    expect((await refund(id, { amount: part, reason: 'a part' })).status).toBe(201)
    const { body: rest } = await refund(id, { reason: 'the rest' })
    expect(nanos(rest.amount)).toBe(charge - nanos(part))
    expect(nanos(rest.refunded)).toBe(charge)
    const { body } = await gateway.admin('GET', `/explain/${id}`)
    expect(nanos(body.refunded)).toBe(charge)
    const kinds = body.entries.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(['charge', 'refund', 'refund'])
    expect(body.steps.filter((step: string) => step.includes('refunded on'))).toHaveLength(2)
  })

  test('many at once, at several gateways, never give back more than was charged', async () => {
    const { id, charge } = await charged()
    const before = nanos((await accountOf(gateway)).balance)
    const amount = '0.00002'
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        refund(id, { amount, reason: `number ${i}` }, {}, gateways[i % gateways.length]),
      ),
    )
    const given = BigInt(answers.filter(({ status }) => status === 201).length) * nanos(amount)
    expect(given <= charge && charge - given < nanos(amount)).toBe(true)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    expect(nanos((await accountOf(gateway)).balance)).toBe(before + given)
  })

  test('a key is used once: repeated it gives the same answer, changed it is refused', async () => {
    const { id } = await charged()
    const headers = { 'idempotency-key': 'k-1' }
    const asked = { amount: '0.00001', reason: 'goodwill' }
    const answers = await Promise.all([1, 2, 3].map(() => refund(id, asked, headers)))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    for (const other of [
      { ...asked, amount: '0.00002' },
      { ...asked, reason: 'another' },
    ]) {
      const { status, body } = await refund(id, other, headers)
      expect([status, body.error.code]).toEqual([422, 'idempotency_mismatch'])
    }
    const other = await charged()
    expect((await refund(other.id, asked, headers)).body.id).not.toBe(answers[0]!.body.id)
  })

  test('a budget is given back what its call cost', async () => {
    const { body: token } = await gateway.admin('POST', '/tokens', {
      account: 'acme',
      name: `b-${engine}`,
      models: ['*'],
      budget: { amount: '1.00', per: 'day' },
    })
    const answer = await gateway.post(
      '/v1/chat/completions',
      { model: 'txta-plus', messages: [{ role: 'user', content: 'x [[sim:tokens=100]]' }] },
      { authorization: `Bearer ${token.token}` },
    )
    await answer.text()
    const spent = async () =>
      nanos((await gateway.admin('GET', `/tokens/${token.id}`)).body.budget.spent)
    const before = await spent()
    expect(before).toBeGreaterThan(0n)
    await refund(requestIdOf(answer), { amount: '0.00001', reason: 'a part' })
    expect(await spent()).toBe(before - nanos('0.00001'))
  })

  test('usage by tag and by end user knows what was given back', async () => {
    const change = { tag_names: ['team'], end_users: 'plain' }
    expect((await gateway.admin('PATCH', '/accounts/acme', change)).status).toBe(200)
    const call = async (team: string | undefined, film?: true) => {
      const headers = team === undefined ? {} : { 'x-gateway-tags': `team=${team}` }
      const content = 'x [[sim:tokens=100]]'
      const answer = await (film
        ? gateway.post('/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'x', seconds: 3 }, headers)
        : gateway.post(
            '/v1/chat/completions',
            { model: 'txta-plus', user: `of-${team}`, messages: [{ role: 'user', content }] },
            headers,
          ))
      const { id } = (await answer.json()) as { id: string }
      return film ? id : requestIdOf(answer)
    }
    // biome-ignore lint/suspicious/noExplicitAny: rows of several kinds
    const usage = async (by: string): Promise<any> =>
      (await gateway.admin('GET', `/usage?by=${by}`)).body
    const marginOf = async (by: string, value: string | null) => {
      const { items } = await usage(by)
      const key = by === 'end_user' ? by : 'tag'
      const row = items.find((each: Record<string, unknown>) => each[key] === value)
      return row === undefined ? 0n : nanos(row.margin)
    }
    const red = await call('red')
    const film = await call('red', true)
    await until('the film', async () => {
      const { body } = await gateway.admin('GET', `/tasks/${film}`)
      return body.state === 'succeeded' ? body : undefined
    })
    const untagged = await call(undefined)
    await rowOf(gateway, red)
    await rowOf(gateway, untagged)
    const before = await marginOf('tag:team', 'red')
    const ofUser = await marginOf('end_user', 'of-red')
    const rest = await marginOf('tag:team', null)
    const back = nanos('0.00001')
    for (const id of [red, untagged]) {
      expect((await refund(id, { amount: '0.00001', reason: 'a part' })).status).toBe(201)
    }
    const given = await gateway.admin('POST', `/tasks/${film}/refunds`, { reason: 'bad' })
    expect(given.status).toBe(201)
    expect(await marginOf('tag:team', 'red')).toBe(before - back - nanos(given.body.amount))
    expect(await marginOf('end_user', 'of-red')).toBe(ofUser - back)
    expect(await marginOf('tag:team', null)).toBe(rest - back)
    for (const by of ['tag:team', 'end_user', 'day', 'model,tag:team']) {
      const { items, total } = await usage(by)
      const sum = items.reduce(
        (all: bigint, row: { margin: string }) => all + nanos(row.margin),
        0n,
      )
      expect([by, sum]).toEqual([by, nanos(total.margin)])
      expect(total.margin).toBe((await usage('month')).total.margin)
    }
  })

  test('a task is refunded by its own id', async () => {
    const film = { model: 'vfa-2.7-t2v', prompt: 'x', seconds: 3 }
    const made = await gateway.post('/v1/videos', film)
    const { id } = (await made.json()) as { id: string }
    const task = await until('the film', async () => {
      const { body } = await gateway.admin('GET', `/tasks/${id}`)
      return body.state === 'succeeded' ? body : undefined
    })
    const wrong = await refund(task.request_id, { reason: 'no' })
    expect([wrong.status, wrong.body.error.code]).toEqual([409, 'nothing_to_refund'])
    expect(wrong.body.error.message).toContain(id)
    const { status, body } = await gateway.admin('POST', `/tasks/${id}/refunds`, { reason: 'bad' })
    expect([status, body.amount]).toEqual([201, task.charge])
    expect((await gateway.admin('GET', `/tasks/${id}`)).body.refunded).toBe(task.charge)
    const { body: ledger } = await gateway.admin('GET', '/accounts/acme/ledger?limit=1')
    expect(ledger.items).toMatchObject([
      { kind: 'refund', task_id: id, request_id: task.request_id, unit: 'video_second' },
    ])
    expect((await rowOf(gateway, task.request_id)) as object).toMatchObject({
      refunded: task.charge,
    })
  })

  test('what was free, unknown or wrongly asked for changes nothing', async () => {
    const before = (await accountOf(gateway)).balance
    const failed = await gateway.chat('x [[sim:status=500]]')
    await failed.text()
    const free = requestIdOf(failed)
    await rowOf(gateway, free)
    expect(await refund(free, { reason: 'x' })).toMatchObject({
      status: 409,
      body: { error: { code: 'nothing_to_refund' } },
    })
    const { id } = await charged()
    const after = (await accountOf(gateway)).balance
    for (const [body, param] of [
      [{}, 'reason'],
      [{ reason: ' ' }, 'reason'],
      [{ reason: 'x', amount: 1 }, 'amount'],
      [{ reason: 'x', amount: '-1' }, 'amount'],
      [{ reason: 'x', amount: '0' }, 'amount'],
      [{ reason: 'x', more: true }, 'more'],
    ] as const) {
      const { status, body: told } = await refund(id, body)
      expect([status, told.error.param]).toEqual([400, param])
    }
    expect((await refund('req_00000000000000000000000000000000', { reason: 'x' })).status).toBe(404)
    expect((await accountOf(gateway)).balance).toBe(after)
    expect(nanos(before) > nanos(after)).toBe(true)
  })

  test('the bill tells charges and refunds apart, its table verifies, and the audit is clean', async () => {
    const month = new Date().toISOString().slice(0, 7)
    const { body: bill } = await gateway.admin('GET', `/bills?account=acme&month=${month}`)
    const { body: account } = await gateway.admin('GET', '/accounts/acme')
    const sum = nanos(bill.credits) - nanos(bill.charges) + nanos(bill.refunds)
    expect(sum).toBe(nanos(bill.closing_balance))
    expect(bill.closing_balance).toBe(account.balance)
    const lines = bill.movements.filter(({ kind }: { kind: string }) => kind === 'refund')
    const given = lines.reduce(
      (all: bigint, { amount }: { amount: string }) => all + nanos(amount),
      0n,
    )
    expect(given).toBe(nanos(bill.refunds))
    expect(lines[0]).toMatchObject({ note: 'cut off', refund_of: expect.stringMatching(/^req_/) })
    const table = await fetch(
      `${gateway.url}/admin/v1/bills?account=acme&month=${month}&format=csv`,
      {
        headers: { authorization: `Bearer ${adminToken}` },
      },
    )
    const file = `${tempDir()}/bill.csv`
    await Bun.write(file, await table.text())
    const command = new URL('../../src/cli/main.ts', import.meta.url).pathname
    const verified = Bun.spawnSync([process.execPath, command, 'verify', file])
    expect(verified.exitCode).toBe(0)
    const { body: audit } = await gateway.admin('POST', '/audit')
    expect([audit.ok, audit.problems]).toEqual([true, []])
    const { body: log } = await gateway.admin('GET', '/audit-log?action=task.refund')
    expect(log.items[0]).toMatchObject({ action: 'task.refund', after: { reason: 'bad' } })
  })
})
