// Kept files in a directory of this machine. A file gets its name only when it is complete and on disk;
// a reader that has opened it gets all of it, even if it is removed meanwhile.
import { existsSync, readFileSync } from 'node:fs'
import { open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, makeDirectory } from '../lib/disk.ts'
import { checkName, type MediaStore, problemOf, Tally } from './store.ts'

const unfinished = '.part'
/** A running write adds to its file more often than this. */
const abandonedAfterMs = 3_600_000

export function openDirectory(dir: string): MediaStore {
  makeDirectory(dir, 0o700)
  const pathOf = (name: string) => join(dir, checkName(name))
  return {
    place: `data:${readOrCreateId(dir)}`,
    async write(name, body) {
      const path = pathOf(name)
      const tally = new Tally()
      try {
        await writeAll(`${path}${unfinished}`, body, tally)
        await rename(`${path}${unfinished}`, path)
        await syncDirectory(dir)
        return tally.end()
      } catch (error) {
        await drop(`${path}${unfinished}`)
        return problemOf(error)
      }
    },
    async open(name, { first, last }) {
      const path = pathOf(name)
      const size = await stat(path).then((found) => found.size, ifAbsent(0))
      return size > last ? Bun.file(path).slice(first, last + 1) : undefined
    },
    remove: (name) => drop(pathOf(name)),
    async tidy(nowMs) {
      for (const name of await readdir(dir)) {
        if (!name.endsWith(unfinished)) continue
        const path = join(dir, name)
        const mtimeMs = await stat(path).then((found) => found.mtimeMs, ifAbsent(nowMs))
        if (mtimeMs < nowMs - abandonedAfterMs) await drop(path)
      }
    },
  }
}

/** The directory's own id: gateways with separate directories may share a database. */
function readOrCreateId(dir: string): string {
  const path = join(dir, '.place')
  const read = () => (existsSync(path) ? readFileSync(path, 'utf8').trim() : '')
  const create = (replaces: boolean) => createFile(path, crypto.randomUUID().slice(0, 8), replaces)
  create(false)
  // Made by a version that did not wait for the disk, before a power cut.
  if (/^\0*$/.test(read())) create(true)
  return read()
}

async function writeAll(
  path: string,
  body: AsyncIterable<Uint8Array>,
  tally: Tally,
): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const piece of body) {
      for (let done = 0; done < piece.byteLength; ) {
        done += (await file.write(piece, done, piece.byteLength - done)).bytesWritten
      }
      tally.add(piece)
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the new name durable too. */
async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  await handle.sync().finally(() => handle.close())
}

const drop = (path: string): Promise<boolean> => unlink(path).then(() => true, isAbsent)

const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

const ifAbsent =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isAbsent(error)) return value
    throw error
  }
