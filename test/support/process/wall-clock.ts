// The wall clock of a gateway process that a test starts, which the test can set.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tempDir } from '../gateway.ts'

export interface WallClock {
  /** What the process is to be started with. */
  env: Record<string, string>
  /** From now on it is ahead of the true time by so much. */
  set(aheadMs: number): void
}

export function wallClock(aheadMs = 0): WallClock {
  const file = join(tempDir(), 'ahead-ms')
  const set = (ms: number) => writeFileSync(file, String(ms))
  set(aheadMs)
  const preload = join(root, 'test/support/process/skew-date.ts')
  // What was built in one piece loads nothing before itself.
  const inFiles = { MODEL_GATEWAY_DIST: process.env['TEST_BUILD'] ?? '' }
  return { set, env: { ...inFiles, TEST_WALL_CLOCK: file, BUN_OPTIONS: `--preload=${preload}` } }
}
