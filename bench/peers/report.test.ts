import { expect, test } from 'bun:test'
import type { Slice } from '../cpu/report.ts'
import { checkPeers, formatKills, formatPeers, type KillFigures, summarisePeers } from './report.ts'

const slice = (target: string, cpuMicrosPerRequest: number): Slice => ({
  target,
  style: 'chat',
  mode: 'json',
  served: 10,
  failed: 0,
  cpuMicrosPerRequest,
  requestsPerSecond: 100,
  p50Ms: 1,
  p99Ms: 2,
  rssBytes: 50_000_000,
  peakBytes: 60_000_000,
})

const kill = (target: string, answered: number, charged?: number): KillFigures => ({
  target,
  mode: 'json',
  answered,
  ...(charged !== undefined && { charged }),
  books: charged === undefined ? 'keeps none' : 'ledger',
})

test('a peer is compared with the gateway round by round', () => {
  const rows = summarisePeers(
    [slice('gateway', 100), slice('slow', 900), slice('gateway', 50), slice('slow', 600)],
    'gateway',
  )
  expect(formatPeers(rows)).toMatch(/JSON +slow +750 +10\.50x +9\.00x 12\.00x/)
  expect(checkPeers(rows, [], 'gateway')).toMatchObject([{ limit: '>= 10x', met: true }])
})

test('what was answered and is not charged is lost; a charge without an answer is no loss', () => {
  const kills = [kill('gateway', 100, 103), kill('slow', 100, 40), kill('other', 100)]
  expect(formatKills(kills)).toMatch(/gateway +100 +103 +0 +ledger/)
  expect(formatKills(kills)).toMatch(/slow +100 +40 +60 +ledger/)
  expect(formatKills(kills)).toMatch(/other +100 +0 +100 +keeps none/)
  expect(checkPeers([], kills, 'gateway')).toMatchObject([{ value: '0', met: true }])
  expect(checkPeers([], [kill('gateway', 100, 99)], 'gateway')).toMatchObject([{ met: false }])
  expect(checkPeers([], [kill('gateway', 0, 0)], 'gateway')).toMatchObject([{ met: false }])
})
