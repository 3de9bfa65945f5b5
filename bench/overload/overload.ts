// Three times as many calls as the channel can serve, from accounts that do not wait for each other: one
// asks for nearly everything, one for less than its share. Meanwhile the admin API is asked for a list.
// Refuses to know tables.

import { adminToken, callerConfig, tokenPrices } from '../lib/gateway-config.ts'
import {
  ask,
  note,
  type PartResult,
  portOf,
  type Run,
  startProgram,
  workspaceFor,
} from '../lib/part.ts'
import { percentile } from '../lib/stats.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import type { OpenCommand, OpenResult } from '../load/open-load.ts'
import { rawRequest } from '../load/slice.ts'
import { checkOverload, formatOverload, type OverloadFigures } from './report.ts'

const places = 100
/** Of the upstream. */
const answerMs = 100
/** Calls a second that the places are for. */
const capacity = (places * 1000) / answerMs
const factor = 3
/** Of the capacity: the best rate is the best of these. */
const shares = [0.8, 1, 1.2]
const bestSeconds = 5
const warmUpSeconds = 3
const seconds = 10
const drainMs = 20_000
const adminEveryMs = 50
const adminMs = 10_000
const call = { style: 'chat', mode: 'json' } as const

/** The greedy ask for all but what the modest one asks for. */
const greedy = ['greedy', 'greedy-too']
const modest = 'modest'
const modestShare = 0.1
const accounts = [...greedy, modest]
const tokenOf = (name: string): string => `sk-bench-${name.padEnd(32, '0')}`

export const overloadSeconds = warmUpSeconds + shares.length * bestSeconds + seconds + 80

const model = 'bench-plus'

const configOf = (url: string): object => ({
  region: 'cn',
  currency: 'CNY',
  accounts: [
    ...callerConfig.accounts,
    ...accounts.map((name) => ({ name, balance: '1000000.00' })),
  ],
  tokens: [
    ...callerConfig.tokens,
    ...accounts.map((name) => ({ account: name, name, token: tokenOf(name), models: ['*'] })),
  ],
  channels: [
    {
      name: 'fake',
      region: 'cn',
      keys: ['bench-upstream-key'],
      protocols: { chat: `${url}/a/v1` },
      models: { [model]: 'bench-plus-2026-11' },
      max_concurrency: places,
    },
  ],
  models: [{ name: model, kind: 'text', interfaces: ['chat'] }],
  prices: tokenPrices([model]),
})

const groupFor = (
  target: Target,
  name: string,
  perSecond: number,
): OpenCommand['groups'][number] => ({
  name,
  request: rawRequest(
    { port: target.port, headers: { authorization: `Bearer ${tokenOf(name)}` } },
    { ...call, model },
  ),
  perSecond,
})

export async function runOverload(run: Run): Promise<PartResult> {
  const own = workspaceFor(run, 'overload')
  const upstream = startProgram(own, 'upstreams/failing-upstream', String(answerMs))
  const upstreamPort = await portOf(upstream)
  const config = configOf(`http://127.0.0.1:${upstreamPort}`)
  const { gatewayCommand } = run.options
  const target = await startGateway({ ...own, upstreamPort }, gatewayCommand, [], { config })
  const load = startProgram(own, 'load/open-load')
  const offer = (perSecond: number, length: number): Promise<OpenResult> => {
    const small = capacity * modestShare
    const rest = (perSecond - small) / greedy.length
    const groups = accounts.map((name) => groupFor(target, name, name === modest ? small : rest))
    const command = { port: target.port, seconds: length, groups }
    return ask<OpenResult>(load, command, length * 1000 + drainMs)
  }
  await offer(capacity, warmUpSeconds)
  let best = 0
  for (const share of shares) {
    const served = perSecondOf(await offer(capacity * share, bestSeconds))
    note(`overload: ${capacity * share} calls a second: ${served.toFixed(0)} served a second`)
    best = Math.max(best, served)
  }
  note(`overload: now ${factor} times as many as there are places for ...`)
  const admin = askAdmin(target)
  const result = await offer(capacity * factor, seconds)
  const figures: OverloadFigures = {
    bestPerSecond: best,
    factor,
    seconds: result.elapsedMs / 1000,
    groups: result.groups,
    modest,
    adminMs: await admin.end(),
  }
  return resultOf(figures)
}

function resultOf(figures: OverloadFigures): PartResult {
  const { bestPerSecond, adminMs: asked } = figures
  return {
    setting:
      `overload: one channel with ${places} places, ${answerMs} ms per answer: ` +
      `${bestPerSecond.toFixed(0)} served a second at best;\n          then ${factor} times as many ` +
      `from ${accounts.length} accounts for ${seconds} s; meanwhile ${asked.count} pages of the admin ` +
      `API,\n          p50 ${asked.p50.toFixed(0)} ms, slowest ${asked.max.toFixed(0)} ms`,
    tables: [formatOverload(figures)],
    verdicts: checkOverload(figures),
    figures: { overload: figures },
  }
}

const perSecondOf = ({ groups, elapsedMs }: OpenResult): number =>
  (groups.reduce((sum, { served }) => sum + served, 0) * 1000) / elapsedMs

/** One page after the other, until it is ended. */
function askAdmin({ port }: Target) {
  const times: number[] = []
  let isOver = false
  const asked = (async () => {
    while (!isOver) {
      const startMs = performance.now()
      const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/requests?limit=20`, {
        headers: { authorization: `Bearer ${adminToken}` },
        signal: AbortSignal.timeout(adminMs),
      })
      await answer.text()
      if (!answer.ok) throw new Error(`the admin API answered ${answer.status}`)
      times.push(performance.now() - startMs)
      await Bun.sleep(adminEveryMs)
    }
  })()
  return {
    async end() {
      isOver = true
      await asked
      const sorted = times.toSorted((a, b) => a - b)
      return { p50: percentile(sorted, 0.5), max: sorted.at(-1) ?? Number.NaN, count: times.length }
    },
  }
}
