import { describe, expect, test } from 'bun:test'
import { newId } from '../../lib/crypto/ids.ts'
import { firstId } from '../../store/log/ids.ts'
import { indexNextSegment } from '../../store/log/indexer.ts'
import { listPartitions, makeWeeks } from '../../store/log/partitions.ts'
import { segmentRows } from '../../store/log/posting-list.ts'
import { findRequest, logHorizonMs } from '../../store/log/requests.ts'
import { aRequest, storeKinds } from '../../store/test-stores.ts'
import { newTestEngine } from '../test-engine.ts'
import { keepLog } from './log-keeper.ts'

const patientMs = 60_000
const dayMs = 86_400_000

describe.each([...storeKinds])('on %s', (on) => {
  test(
    'the log is kept as long as the file says, and has room for the weeks to come',
    async () => {
      const it = await newTestEngine(on)
      const { engine } = it
      const { store } = engine
      const nowMs = engine.clock.nowMs()
      const oldMs = nowMs - 20 * dayMs
      if (on === 'postgres') await makeWeeks(store, oldMs, oldMs + 1)
      const at = (atMs: number) => aRequest({ atMs, requestId: newId('req', atMs) })
      const old = at(oldMs)
      await store.record(old)
      const more = Array.from({ length: segmentRows - 2 }, () => at(oldMs))
      const recent = Array.from({ length: segmentRows }, () => at(nowMs))
      await Promise.all([...more, ...recent].map((row) => store.record(row)))
      while (await indexNextSegment(store, 2 * segmentRows));

      await keepLog(engine)
      expect(await findRequest(store.read, old.requestId)).toHaveLength(1)
      engine.declared = {
        ...engine.declared,
        file: { ...engine.declared.file, logs: { keep: '7d' } },
      }
      await keepLog(engine)
      expect(await findRequest(store.read, old.requestId)).toEqual([])
      expect(await findRequest(store.read, recent[0]!.requestId)).toHaveLength(1)
      expect(await logHorizonMs(store.read)).toBeGreaterThan(oldMs)
      if (on === 'postgres') {
        const weeks = await listPartitions(store.read)
        const ahead = firstId(nowMs + 30 * dayMs)
        expect(weeks.some(({ toId }) => toId !== undefined && toId > ahead)).toBe(true)
      }
      await it.close()
    },
    patientMs,
  )
})
