// Bills and receipts as the gateway gives them out, and what happens to them on the way.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BillTable } from '../../billing/bills/bill-table.ts'
import { ReceiptWriter } from '../../billing/proof/receipt-writer.ts'
import { loadSigningKeys } from '../../billing/proof/signing-keys.ts'
import { billColumns, billView } from '../../contract/bills/bill-line.ts'
import type { Entry } from '../../contract/ledger.ts'
import { createSeal } from '../../lib/crypto/seal.ts'
import { createSigner, newKeyPair } from '../../lib/crypto/signing.ts'
import { createLog } from '../../lib/telemetry/log.ts'
import { csvRow } from '../../lib/text/csv.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import type { Store } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { setMeta } from '../../store/sql/meta.ts'
import { aRequest, charged, newPlace, type Place } from '../../store/test-stores.ts'
import { verifyTable } from './verify.ts'

const monthMs = Date.UTC(2026, 10, 1)
const stretch = { accountId: 'acc_1', fromMs: monthMs, untilMs: Date.UTC(2026, 11, 1) }

let place: Place
let store: Store
let keeper: ReceiptWriter

beforeAll(async () => {
  place = await newPlace('sqlite')
  store = await place.open()
  const seal = createSeal(new Uint8Array(32).fill(3))
  const log = createLog({ level: 'error', pretty: false, write: () => {} })
  keeper = new ReceiptWriter(store, await loadSigningKeys(store, seal), log)
  const entries: (Partial<Entry> & Pick<Entry, 'atMs' | 'kind' | 'amountNanos'>)[] = [
    { atMs: monthMs - 9, kind: 'credit', amountNanos: 10_000_000_000n },
    { atMs: monthMs + 1, kind: 'charge', amountNanos: -1n, ref: 'req_1', model: 'txta-plus' },
    // Of the month before, although it was booked in between.
    { atMs: monthMs - 1, kind: 'charge', amountNanos: -2n, ref: 'req_2', model: 'txta-plus' },
    { atMs: monthMs + 2, kind: 'adjust', amountNanos: -3n, note: '=HYPERLINK("x")\r\n"two" 行' },
    {
      atMs: monthMs + 3,
      kind: 'charge',
      amountNanos: -4_500_000n,
      ref: 'video_1',
      model: 'film',
      unit: 'video_second',
      tier: '1080p',
      quantity: 5.041666666666667,
      priceId: 'price_1',
      tokenId: 'tok_1',
      estimated: true,
      tags: 'job=7,team=red,@=a%2Cb',
    },
    { atMs: stretch.untilMs, kind: 'charge', amountNanos: -5n, ref: 'req_3' },
  ]
  await store.tx(async (tx) => {
    await setMeta(tx, 'currency', 'CNY')
    await insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 })
    for (const [i, entry] of entries.entries()) {
      await appendEntry(tx, { accountId: 'acc_1', ref: `credit:${i}`, ...entry })
    }
  })
  await keeper.drain()
})
afterAll(async () => {
  await store.close()
  await place.remove()
})

async function tableOf(of = stretch): Promise<string> {
  const table = new BillTable(store.read, keeper.keys, of)
  let text = `\uFEFF${csvRow(billColumns)}`
  for await (const page of table.pages()) {
    for (const line of page) {
      const cells = billView(line)
      text += csvRow(billColumns.map((column) => cells[column]))
    }
  }
  return text
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const verify = (text: string | Uint8Array, key?: string, size = 1 << 16) =>
  verifyTable(inPieces(typeof text === 'string' ? Buffer.from(text) : text, size), key)

/** Rows of a table; the only line ends inside cells are in the note of the third. */
const rowsOf = (text: string) => text.split(/(?<=\r\n)(?!"")/)

/** With the columns that repeat tags, as files have them; one cell may be another. */
function withTags(text: string, team = 'red'): string {
  const rows = rowsOf(text).filter((row) => row !== '')
  const ends = [',end_user,tag:team', ',,', ',,', `,"a,b",${team}`]
  return rows.map((row, i) => row.replace(/\r\n$/, `${ends[i]}\r\n`)).join('')
}

describe('a bill', () => {
  test('is valid with a column for each tag, and not with another value in one', async () => {
    const text = await tableOf()
    expect(await verify(withTags(text))).toMatchObject({ lines: 3 })
    const problem = 'its tag:team is not that of its tags'
    expect(await verify(withTags(text, 'blue'))).toMatchObject({ problem })
    expect(await verify(text.replace('team=red', 'team=blu'))).toHaveProperty('problem')
  })

  test('is valid as it comes, in whatever pieces', async () => {
    const text = await tableOf()
    for (const size of [1, 7, text.length * 2]) {
      expect(await verify(text, keeper.signer.key, size)).toEqual({
        accountId: 'acc_1',
        currency: 'CNY',
        lines: 3,
        first: 2,
        last: 5,
        fromMs: monthMs + 1,
        untilMs: monthMs + 3,
        openingNanos: 10_000_000_000n,
        closingNanos: 9_995_499_994n,
        sumNanos: -4_500_004n,
        chargedNanos: 4_500_001n,
        elsewhere: 1,
        seals: 1,
        keys: [keeper.signer.key],
      })
    }
  })

  test('is still valid with plain line ends and without its mark', async () => {
    const text = await tableOf()
    const [head, ...rows] = rowsOf(text)
    const plain = [head!.slice(1), ...rows].map((row) => row.replace(/\r\n$/, '\n')).join('')
    expect(plain).not.toBe(text)
    expect(await verify(plain)).toMatchObject({ lines: 3 })
    expect(await verify(plain.trimEnd())).toMatchObject({ lines: 3 })
  })

  test('the first month of an account begins with nothing', async () => {
    const text = await tableOf({ ...stretch, fromMs: Date.UTC(2026, 9, 1), untilMs: monthMs })
    expect(await verify(text)).toMatchObject({ lines: 2, first: 1, last: 3, openingNanos: 0n })
  })

  test('is not valid with any one bit of it changed', async () => {
    const bytes = Buffer.from(await tableOf())
    const accepted: string[] = []
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        bytes[at]! ^= 1 << bit
        const result = await verify(bytes)
        if (!('problem' in result)) accepted.push(`byte ${at} bit ${bit}`)
        bytes[at]! ^= 1 << bit
      }
    }
    expect(accepted).toEqual([])
    expect(await verify(bytes)).toMatchObject({ lines: 3 })
  })

  test('is not valid with a byte replaced by what separates or marks', async () => {
    const bytes = Buffer.from(await tableOf())
    const accepted: string[] = []
    for (let at = 0; at < bytes.length; at++) {
      const was = bytes[at]!
      for (const other of Buffer.from('"\',\r\n =-0')) {
        if (other === was) continue
        bytes[at] = other
        const result = await verify(bytes)
        if (!('problem' in result)) accepted.push(`byte ${at} as ${other}`)
      }
      bytes[at] = was
    }
    expect(accepted).toEqual([])
  })

  test('names the first line that is not what was booked', async () => {
    const [head, ...rows] = rowsOf(await tableOf())
    const changed = rows.map((row, i) =>
      i === 1 ? row.replace('-0.000000003', '-0.000000002') : row,
    )
    expect(await verify([head, ...changed].join(''))).toMatchObject({ line: 3 })
  })

  test('is not valid with lines taken out, added, swapped or repeated', async () => {
    const [head, a, b, c] = rowsOf(await tableOf())
    const cases: [string[], string][] = [
      [[b!, c!], 'not valid'],
      [[a!, c!], 'missing before it'],
      [[a!, b!], 'end is not signed'],
      [[a!], 'end is not signed'],
      [[], 'no lines'],
      [[a!, c!, b!], 'missing before it'],
      [[b!, a!, c!], 'stands below'],
      [[a!, b!, b!, c!], 'there twice'],
      [[a!, b!, c!, c!], 'after the line that ends'],
      [[a!, head!.slice(1), b!, c!], 'its id is'],
    ]
    for (const [rows, problem] of cases) {
      const result = await verify([head, ...rows].join(''))
      expect(result).toMatchObject({ problem: expect.stringContaining(problem) })
    }
  })

  test('a line cannot be left out even by somebody who fills the gap', async () => {
    const [head, a, b, c] = rowsOf(await tableOf())
    const hashColumn = billColumns.indexOf('hash')
    const hash = /,([\w-]{43}),+\r\n$/.exec(b!)![1]!
    const cells = c!.split(',')
    expect(cells[hashColumn - 1]).toBe('')
    cells[hashColumn - 1] = hash
    const result = await verify([head, a, cells.join(',')].join(''))
    expect(result).toMatchObject({ problem: expect.stringContaining('lines were taken out') })
  })

  test('is not valid under another key, or signed with one', async () => {
    const text = await tableOf()
    const other = newKeyPair()
    expect(await verify(text, other.key)).toMatchObject({ line: 5 })
    const keys = { signer: createSigner(other), published: [other.key, keeper.signer.key] }
    const table = new BillTable(store.read, keys, stretch)
    let forged = csvRow(billColumns)
    for await (const page of table.pages()) {
      for (const line of page) {
        const cells = billView(line)
        forged += csvRow(billColumns.map((column) => cells[column]))
      }
    }
    expect(await verify(forged)).toMatchObject({ keys: [other.key] })
    expect(await verify(forged, keeper.signer.key)).toMatchObject({ line: 5 })
  })

  test('is signed at its end while calls go on', async () => {
    await keeper.drain()
    const before = await tableOf()
    const request = aRequest({ accountId: 'acc_1', atMs: stretch.fromMs + 5 })
    await store.record(charged(request, 3n))
    // It may have its receipt by now, but no signature of the chain covers it.
    expect(await tableOf()).toBe(before)
    await keeper.drain()
    const after = await tableOf()
    expect(after).toContain(request.requestId)
    expect(await verify(after)).not.toHaveProperty('problem')
  })
})
