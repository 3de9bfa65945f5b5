// Schedules the upkeep of the request log: partitions for the weeks to come, and removal of rows past
// their retention. Notices that were sent, and texts of background responses, go earlier. Decides when and how long; the store knows how.

import { logKeepMs } from '../../contract/config-schema/index.ts'
import { sureNowMs } from '../../lib/clock.ts'
import { Loop, type Service } from '../../lib/loop.ts'
import { dropOldNotices } from '../../store/deliveries/retention.ts'
import { makeWeeks } from '../../store/log/partitions.ts'
import { trimLog } from '../../store/log/retention.ts'
import { dropExpiredTexts } from '../../store/tasks/texts.ts'
import type { BaseDeps, Declares } from '../base-deps.ts'

const firstMs = 5_000
const everyMs = 6 * 3_600_000
const aheadMs = 35 * 24 * 3_600_000
/** Those of charges repeat the ledger. */
const maxNoticeMs = 30 * 24 * 3_600_000

const textsAtOnce = 100

type LogKeeperDeps = BaseDeps & Declares

export function createLogKeeper(deps: LogKeeperDeps): Service {
  const loop: Loop = new Loop({
    name: 'log-keeper',
    run: () => keepLog(deps, () => loop.isStopped),
    everyMs,
    firstMs,
    // Gateways that share a database do not tend it in step.
    jitter: 0.2,
    log: deps.log,
    failure: 'log retention failed',
  })
  return loop
}

/** One round. */
export async function keepLog(
  { store, clock, declared, log }: LogKeeperDeps,
  isStopped = () => false,
): Promise<void> {
  const nowMs = clock.nowMs()
  if (store.dialect === 'postgres') await makeWeeks(store, nowMs, nowMs + aheadMs)
  const keepMs = logKeepMs(declared.file.logs)
  const wholeFromMs = await trimLog(store, { nowMs: sureNowMs(clock), keepMs, isStopped })
  const noticesBeforeMs = sureNowMs(clock) - Math.min(keepMs, maxNoticeMs)
  await dropOldNotices(store, { beforeMs: noticesBeforeMs, isStopped })
  await dropOldTexts(store, sureNowMs(clock), isStopped)
  log.debug('request log tended', { whole_from: new Date(wholeFromMs).toISOString() })
}

async function dropOldTexts(
  store: LogKeeperDeps['store'],
  nowMs: number,
  isStopped: () => boolean,
): Promise<void> {
  let dropped: number
  do {
    dropped = await store.tx((tx) => dropExpiredTexts(tx, nowMs, textsAtOnce))
  } while (dropped === textsAtOnce && !isStopped())
}
