// The work folder of one test run: everything that the run writes is inside it, so removing it leaves
// nothing behind. Its name carries the process id of its run; the next run removes what a killed run left.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endProcessesOf } from './leftovers.ts'

const prefix = 'gateway-tests-'

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Removes the work folders of runs that were killed, with their processes. */
export async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^gateway-tests-(\d+)-/.exec(name) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    const folder = join(tmpdir(), name)
    await endProcessesOf(folder)
    try {
      removeFolder(folder)
    } catch {
      // Another user's.
    }
  }
}

/** A folder that other users can pass through: PostgreSQL does not run as root. */
function makeOpen(folder: string): string {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o711)
  return folder
}

export const makeWorkFolder = (): string =>
  makeOpen(mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`)))

/** The temp directory of one job. The number is padded so that no name is the beginning of another. */
export const makeJobFolder = (work: string, job: number): string =>
  makeOpen(join(work, `job-${String(job).padStart(4, '0')}`))

export const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
