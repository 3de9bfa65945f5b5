// Gateways on which the examples of pages are run, and the days and months of the pages: in them it is
// 15 November 2026.

import { expect } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monthAt, monthPlus } from '../../../src/lib/text/month.ts'
import { adminToken, type TestGateway } from '../gateway.ts'
import { ownEnv } from '../own-env.ts'
import { type Example, fileIn, missingLine, renamed, runFence, type Stage } from './fences.ts'
import { fencesOf } from './pages.ts'
import { programsIn, workspace } from './workspace.ts'

const dayMs = 24 * 3_600_000
const dayAt = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

/** When the pages were written, as now is. */
export function todaysNames(nowMs = Date.now()): Map<string, string> {
  const month = monthAt(nowMs)
  return new Map([
    ['2026-11-15', dayAt(nowMs)],
    ['2026-11-14', dayAt(nowMs - dayMs)],
    ['2026-11-16', dayAt(nowMs + dayMs)],
    ['2026-12', monthPlus(month, 1)],
    ['2026-11', month],
    ['2026-10', monthPlus(month, -1)],
    ['2026-09', monthPlus(month, -2)],
  ])
}

export interface PageStage extends Stage {
  cwd: string
  names: Map<string, string>
}

/** In a directory of its own, where the files that the page shows lie. */
export function stageOf(gateway: TestGateway, page: string, token = ''): PageStage {
  const cwd = workspace(gateway.dataDir)
  const names = todaysNames()
  for (const fence of fencesOf(page)) {
    const name = fence.language === 'csv' ? `${fence.mark}.csv` : undefined
    const path = fence.mark === 'file' ? fileIn(fence).path : name
    if (path !== undefined) writeFileSync(join(cwd, path), renamed(fence.text, names))
  }
  const { url, dataDir } = gateway
  const env = { GATEWAY_ADMIN_TOKEN: adminToken, PATH: `${programsIn(cwd)}:${ownEnv['PATH']}` }
  return { url, token, dataDir, cwd, env, names, lastIds: new Map() }
}

/** Runs it; it must end as its mark says, and print what the page shows, or at least something. */
export async function tryExample(stage: Stage, { output, ...fence }: Example): Promise<void> {
  const { code, printed } = await runFence(stage, fence)
  expect({ failed: code !== 0, printed }).toEqual({ failed: fence.mark === 'fails', printed })
  const missing = output === undefined ? undefined : missingLine(output, printed)
  expect({ missing, printed }).toEqual({ missing: undefined, printed })
  expect(printed.trim()).not.toBe('')
}
