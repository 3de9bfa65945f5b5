// A lock on the data directory itself, which cannot be deleted as a lock file can. The kernel
// releases it with the process. Where the system has no such lock, the lock file alone counts.
import { dlopen, FFIType, read } from 'bun:ffi'
import { closeSync, openSync } from 'node:fs'

const exclusive = 2
const withoutWaiting = 4
const isMac = process.platform === 'darwin'
const wouldBlock = isMac ? 35 : 11
const errnoName = isMac ? '__error' : '__errno_location'
const muslCpu = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const libraries = isMac ? ['libSystem.B.dylib'] : ['libc.so.6', `libc.musl-${muslCpu}.so.1`]
const retryMs = 50

export interface DirectoryLock {
  release(): void
}

/** `busy`: another process holds it. Undefined: this file system does not support the lock. */
export function lockDirectory(path: string, waitMs: number): DirectoryLock | 'busy' | undefined {
  const system = openSystem()
  if (system === undefined) return undefined
  const file = openSync(path, 'r')
  for (let leftMs = waitMs; ; leftMs -= retryMs) {
    const failed = system.flock(file, exclusive | withoutWaiting) !== 0
    if (!failed) return { release: () => closeSync(file) }
    const isBusy = system.errno() === wouldBlock
    if (isBusy && leftMs > 0) {
      Bun.sleepSync(retryMs)
      continue
    }
    closeSync(file)
    return isBusy ? 'busy' : undefined
  }
}

interface System {
  flock(file: number, operation: number): number
  errno(): number
}

function openSystem(): System | undefined {
  for (const library of libraries) {
    try {
      const { symbols } = dlopen(library, {
        flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
        [errnoName]: { args: [], returns: FFIType.ptr },
      })
      const { flock, [errnoName]: place } = symbols as unknown as {
        flock(file: number, operation: number): number
      } & Record<string, () => Parameters<typeof read.i32>[0]>
      return { flock, errno: () => read.i32(place!(), 0) }
    } catch {
      // Another C library, or none.
    }
  }
  return undefined
}
