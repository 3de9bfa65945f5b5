// Reconciling over HTTP and on the command line: the example that docs/money/reconciliation.md shows, what
// is refused, that a statement is there as a whole or not at all, and what comes out again.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { examplesIn, kindOf } from '../support/docs/fences.ts'
import { fencesOf } from '../support/docs/pages.ts'
import { stageOf, tryExample } from '../support/docs/stages.ts'
import {
  adminToken,
  apiToken,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { until } from '../support/read.ts'
import {
  asEvents,
  completion,
  jsonReply,
  type ScriptedUpstream,
  startScripted,
  streamReply,
  textChunk,
} from '../support/upstream.ts'

const page = 'docs/money/reconciliation.md'
const statement = fencesOf(page).find((fence) => kindOf(fence) === 'csv november')!.text
/** The day of the example is today. */
const today = new Date().toISOString().slice(0, 10)
const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10)
const dated = (text: string) => text.replaceAll('2026-11-15', today)

let upstream: ScriptedUpstream
let gateway: TestGateway
const usage = { prompt_tokens: 13, completion_tokens: 12 }
const named = (id: string) => ({ headers: { 'x-request-id': id } })

beforeAll(async () => {
  upstream = startScripted()
  const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: cloud-a
    keys: [upk-0123456789abcdef]
    protocols: { chat: "${upstream.chat}" }
    models: { txta-plus: "*" }
`
  gateway = await startGateway({ config })
  for (const id of ['up-1', 'up-2', 'up-3', 'up-6']) {
    upstream.on(id, () => jsonReply(completion(usage), named(id)))
    expect((await ask(id)).status).toBe(200)
  }
  upstream.on('up-4', () =>
    streamReply([asEvents([textChunk('one two '), textChunk('three four')])], named('up-4')),
  )
  await (await ask('up-4', { stream: true })).text()
  await until(
    'the row of the broken stream',
    async () => (await gateway.admin('GET', '/losses')).body.items[0],
  )
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const ask = (user: string, more: object = {}) => gateway.chat('Hello!', { user, ...more })

const run = async (...words: string[]) => {
  const child = Bun.spawn([`${root}/bin/gateway`, ...words, '--url', gateway.url], {
    env: { ...ownEnv, GATEWAY_ADMIN_TOKEN: adminToken },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { out, err, code: await child.exited }
}

const saved = async (id: string, ...flags: string[]): Promise<string> => {
  const file = join(tempDir(), 'lines.csv')
  expect((await run('statement', 'lines', id, ...flags, '--out', file)).code).toBe(0)
  return readFileSync(file, 'utf8')
}

const fileWith = (text: string | Uint8Array, name = 'november.csv'): string => {
  const path = join(tempDir(), name)
  writeFileSync(path, text)
  return path
}

test('the examples of the page run and print what it says', async () => {
  const stage = stageOf(gateway, page)
  const examples = examplesIn(fencesOf(page), ['run'])
  expect(examples).toHaveLength(2)
  for (const example of examples) await tryExample(stage, example)
})

describe('a statement', () => {
  const post = async (
    text: string | Uint8Array,
    query: Record<string, string>,
    type = 'text/csv',
  ) => {
    const response = await fetch(
      `${gateway.url}/admin/v1/statements?${new URLSearchParams(query)}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': type },
        body: text,
      },
    )
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return { status: response.status, body: (await response.json()) as any }
  }
  const simple = dated('request_id,time,tokens,cost\nup-1,2026-11-15 10:15:01,25,0.01\n')
  const count = async () => (await gateway.admin('GET', '/statements')).body.items.length

  test('is listed, shown, paged by outcome, handed out and forgotten', async () => {
    const text = dated(statement)
    const made = await post(text, { channel: 'cloud-a', name: 'all', cost_factor: '0.5' })
    expect(made.status).toBe(201)
    const { id, outcomes, warnings } = made.body
    expect(warnings).toEqual([])
    expect(outcomes.upstream_only).toEqual({
      lines: 1,
      quantity: 25,
      amount: '0.0000172',
      our_quantity: 0,
      our_amount: '0.00',
    })
    const shown = await gateway.admin('GET', `/statements/${id}`)
    expect({ ...shown.body, warnings }).toEqual(made.body)
    const first = await gateway.admin('GET', `/statements/${id}/lines?limit=2`)
    expect(first.body.items.map(({ line }: { line: number }) => line)).toEqual([2, 3])
    const second = await gateway.admin(
      'GET',
      `/statements/${id}/lines?limit=2&cursor=${first.body.next_cursor}`,
    )
    expect(second.body.items.map(({ line }: { line: number }) => line)).toEqual([4, 5])
    const loss = await gateway.admin('GET', `/statements/${id}/lines?outcome=loss`)
    expect(loss.body.items).toMatchObject([
      { line: 5, upstream_id: 'up-4', quantity: 21, loss: 'failed_after_cost' },
    ])
    const { items } = (await gateway.admin('GET', '/losses?channel=cloud-a')).body
    expect(loss.body.items[0].ref).toBe(items[0].request_id)
    const [head, row] = (await saved(id, '--outcome', 'gateway_only')).split('\r\n')
    expect(head).toBe(
      '\uFEFFline,outcome,at,model,upstream_id,quantity,our_quantity,amount,our_amount,currency,ref,loss',
    )
    expect(row).toMatch(/^7,gateway_only,\S+Z,txta-plus,up-6,,25,,0\.0000344,CNY,req_\w+,$/)
    const headers = { authorization: `Bearer ${adminToken}` }
    const whole = await fetch(`${gateway.url}/admin/v1/statements/${id}/lines?format=csv`, {
      headers,
    })
    expect(Buffer.from(await whole.arrayBuffer()).toString()).toMatch(/^\uFEFFline,(?:.+\r\n){7}$/)
    const lines = await run('statement', 'lines', id, '--outcome', 'quantity_differs')
    expect(lines.out).toMatch(/\n +3 {2}quantity_differs/)
    expect((await run('statement', 'delete', id)).out).toBe(`deleted ${id}\n`)
    expect((await gateway.admin('GET', `/statements/${id}/lines`)).status).toBe(404)
  })

  test('comes out without formulas', async () => {
    const text = dated('request_id,time,model,tokens\n"=HYPERLINK(""x"")",2026-11-15,@SUM(A1),1\n')
    const { body } = await post(text, { channel: 'cloud-a' })
    expect(await saved(body.id)).toContain(`,'@SUM(A1),"'=HYPERLINK(""x"")",1,`)
    await gateway.admin('DELETE', `/statements/${body.id}`)
  })

  test('of sums by day and model is compared by day and model', async () => {
    const text = dated(
      'Date,Model,Tokens,Cost\n2026-11-15,txta-plus,75,0.0000516\n2026-11-15,txta-plus,25,0.0000172\n' +
        '2026-11-15,other,1,1\n',
    )
    const { body } = await post(text, { channel: 'cloud-a', cost_factor: '0.5' })
    expect(body.outcomes.matched).toMatchObject({ lines: 2, quantity: 100, our_quantity: 100 })
    expect(body.outcomes.upstream_only.lines).toBe(1)
    expect(body.outcomes.gateway_only.lines).toBe(0)
    await gateway.admin('DELETE', `/statements/${body.id}`)
  })

  test('in another alphabet is read as its sender says', async () => {
    const bytes = Buffer.concat([
      Buffer.from('request_id,', 'latin1'),
      Buffer.from([0xbd, 0xf0, 0xb6, 0xee]),
      Buffer.from('\nup-1,1.00\n', 'latin1'),
    ])
    const query = { channel: 'cloud-a', from: today, to: tomorrow }
    expect((await post(bytes, query)).body.error.message).toContain('is not utf-8')
    const made = await post(bytes, query, 'text/csv; charset=gb18030')
    expect(made.body.map).toEqual({ id: 'request_id', amount: '金额' })
    await gateway.admin('DELETE', `/statements/${made.body.id}`)
  })

  test('of a channel that nobody knows is compared, and its reader told', async () => {
    const { body } = await post(simple, { channel: 'cloud-b' })
    expect(body.warnings).toEqual(["no channel is called 'cloud-b' now"])
    expect(body.outcomes.upstream_only.lines).toBe(1)
    await gateway.admin('DELETE', `/statements/${body.id}`)
  })

  test('with one bad line among many is not there at all', async () => {
    const before = await count()
    const many = Array.from({ length: 5_000 }, (_, i) => `up-x${i},${today},1,1`).join('\n')
    const text = `request_id,time,tokens,cost\n${many}\nup-y,${today},1,free\n`
    const { status, body } = await post(text, { channel: 'cloud-a' })
    expect(status).toBe(400)
    expect(body.error.message).toStartWith("line 5002: 'free' is not an amount")
    expect(await count()).toBe(before)
  })

  test.each([
    [{}, 'channel'],
    [{ channel: 'cloud-a', map: '{' }, 'map'],
    [{ channel: 'cloud-a', map: '{"sum":"cost"}' }, 'map'],
    [{ channel: 'cloud-a', zone: 'CST' }, 'zone'],
    [{ channel: 'cloud-a', dates: 'ymd' }, 'dates'],
    [{ channel: 'cloud-a', decimal: ';' }, 'decimal'],
    [{ channel: 'cloud-a', cost_factor: '-1' }, 'cost_factor'],
    [{ channel: 'cloud-a', tolerance: '2' }, 'tolerance'],
    [{ channel: 'cloud-a', from: 'monday' }, 'from'],
    [{ channel: 'cloud-a', map: '{"amount":"price"}' }, 'body'],
  ])('with %p is refused by name', async (query, param) => {
    const { status, body } = await post(simple, query as Record<string, string>)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('that is no text is refused', async () => {
    expect((await post(simple, { channel: 'cloud-a' }, 'application/zip')).status).toBe(415)
    expect((await post(simple, { channel: 'cloud-a' }, 'text/csv; charset=klingon')).status).toBe(
      415,
    )
    expect((await gateway.admin('GET', '/statements/stm_none')).status).toBe(404)
    const one = await gateway.admin('GET', '/statements/stm_none/lines?outcome=loss')
    expect(one.status).toBe(404)
    const odd = await gateway.admin('GET', '/statements/stm_none/lines?outcome=x')
    expect(odd.status).toBe(404)
  })

  test('of which another is being taken in has to wait', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const slow = fetch(`${gateway.url}/admin/v1/statements?channel=cloud-a`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'text/csv' },
      body: readable,
    })
    await writer.write(new TextEncoder().encode(simple))
    await until('the second to be refused', async () => {
      const { status } = await post(simple, { channel: 'cloud-a' })
      return status === 409 ? true : undefined
    })
    await writer.close()
    expect((await slow).status).toBe(201)
  })
})

test('a hundred thousand lines take no more memory than a few', async () => {
  const rssBytes = () => {
    const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
  }
  const before = rssBytes()
  const rows = Array.from(
    { length: 100_000 },
    (_, i) => `up-m${i},${today} 11:00:00,txta-plus,25,0.01`,
  )
  const path = fileWith(`request_id,time,model,tokens,cost\n${rows.join('\n')}\n`, 'large.csv')
  const { out } = await run('reconcile', path, '--channel', 'cloud-a')
  expect(out).toMatch(/\nupstream only +100000 +2500000 /)
  // All lines as objects would be some 50 MB more.
  expect(rssBytes() - before).toBeLessThan(120 * 1024 * 1024)
})
