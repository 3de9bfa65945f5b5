// File operations that keys, marks and journals depend on, in one object, so that a test can let each
// of them fail; and how they make a file or a directory that survives a power cut.
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

export const disk = {
  open: openSync,
  close: closeSync,
  sizeOf: (file: number): number => fstatSync(file).size,
  read: readSync,
  readAll: (path: string): Buffer => readFileSync(path),
  write: writeSync,
  /** Without keeping the event loop waiting. */
  writeLater: write,
  sync: fsyncSync,
  truncate: ftruncateSync,
  link: linkSync,
  rename: renameSync,
  unlink: unlinkSync,
  makeDirectories: (path: string, mode: number): string | undefined =>
    mkdirSync(path, { recursive: true, mode }),
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

/** File systems on which a directory cannot be synced order its names by themselves, or not at all. */
const unsupported = /^(EINVAL|ENOTSUP|EOPNOTSUPP|ENOSYS)$/

/** New names are durable only with their directory. */
export function syncDirectory(path: string): void {
  const directory = disk.open(path, constants.O_RDONLY)
  try {
    disk.sync(directory)
  } catch (error) {
    if (!unsupported.test(codeOf(error))) throw error
  } finally {
    disk.close(directory)
  }
}

/** With all that leads to it; its own name is durable, too. */
export function makeDirectory(path: string, mode: number): void {
  const first = disk.makeDirectories(path, mode)
  // Also where it existed: its maker may have died before it was durable.
  const top = dirname(first ?? path)
  for (let each = dirname(path); ; each = dirname(each)) {
    try {
      syncDirectory(each)
    } catch (error) {
      // A directory that this user may pass but not read was made by someone else.
      if (!/^(EACCES|EPERM)$/.test(codeOf(error))) throw error
    }
    if (each === top || each === dirname(each)) return
  }
}

/**
 * Appears under its name only when all of it is on the disk. False when there is one already, unless
 * `replaces`: then it takes its place.
 */
export function createFile(path: string, text: string, replaces = false): boolean {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    writeSynced(temporary, text)
    const isMade = replaces ? place(temporary, path) : placeNew(temporary, path)
    syncDirectory(dirname(path))
    return isMade
  } finally {
    try {
      disk.unlink(temporary)
    } catch {
      // It has its name by now, or was not made.
    }
  }
}

function writeSynced(path: string, text: string): void {
  const { O_WRONLY, O_CREAT, O_TRUNC } = constants
  const file = disk.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  try {
    writeWhole(file, Buffer.from(text), 0)
    disk.sync(file)
  } finally {
    disk.close(file)
  }
}

function place(temporary: string, path: string): boolean {
  disk.rename(temporary, path)
  return true
}

/** Two processes may make the same file; a link fails where a name replaces another. */
function placeNew(temporary: string, path: string): boolean {
  try {
    disk.link(temporary, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    if (!/^(EPERM|EMLINK|EXDEV)$/.test(codeOf(error)) && !unsupported.test(codeOf(error)))
      throw error
  }
  // A file system without links.
  return place(temporary, path)
}

/** A disk that is nearly full may take the first part only. */
export function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    const written = disk.write(file, bytes, done, bytes.length - done, position + done)
    if (written === 0) throw diskFull()
    done += written
  }
}

export const diskFull = (): Error =>
  Object.assign(new Error('the disk did not take all of it'), { code: 'ENOSPC' })
