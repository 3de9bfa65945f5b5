// Rows of refused requests: so many of each account, then one that counts the rest.
import { expect, test } from 'bun:test'
import type { RequestRecord } from '../../contract/requests.ts'
import { aRequest } from '../../store/test-stores.ts'
import type { BaseDeps } from '../base-deps.ts'
import { keepsRefused, maxRefusedRows, writeOmitted } from './refused-rows.ts'

test('one account does not use up the rows of another, and the rest is one row that counts', () => {
  const written: RequestRecord[] = []
  const store = { record: async (row: RequestRecord) => void written.push(row) }
  const deps = { store } as unknown as BaseDeps
  const rows = Array.from({ length: maxRefusedRows + 50 }, (_, i) =>
    aRequest({ accountId: 'acc_1', atMs: 1_000 + i, requestId: `req_${i}` }),
  )
  const kept = rows.map((row) => keepsRefused(deps, row))
  expect(kept.filter((each) => each)).toHaveLength(maxRefusedRows)
  expect(keepsRefused(deps, aRequest({ accountId: 'acc_2' }))).toBe(true)
  expect(written).toEqual([])
  writeOmitted(deps)
  expect(written.map(({ requestId, detail }) => [requestId, detail.omitted])).toEqual([
    [`req_${maxRefusedRows}`, 50],
  ])
  expect(written[0]!.detail.error).toContain('50 requests were refused within a minute since 1970-')
  expect(keepsRefused(deps, rows[0]!)).toBe(true)
})
