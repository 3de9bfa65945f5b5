// Files of accounts: received as streams, kept encrypted until they expire or are deleted.
import {
  type AccountFile,
  type FilePurpose,
  type FileTerms,
  maxBatchLines,
  maxFileBytes,
  type ReceivedFile,
} from '../../contract/batches/index.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/crypto/ids.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { isInUse } from '../../store/batches/batches.ts'
import {
  accountFiles,
  deleteFileRow,
  disposableFiles,
  findFile,
  insertPending,
  keepPending,
  keepUntil,
  markGone,
  type StoredFile,
  sizePending,
} from '../../store/batches/files.ts'
import { type ContentDeps, mainStore, storeAt } from './content-stores.ts'
import { decrypted, encrypted } from './sealed-content.ts'

export interface FileDeps extends ContentDeps {
  readonly clock: Clock
  readonly seal: Seal
  readonly log: Log
}

/** Of an account. */
const maxFiles = 10_000
const maxAccountBytes = 2 * 1024 ** 3
const keptMs = 30 * 86_400_000
/** No upload lasts longer: what is older was left by a process that died. */
const pendingMs = 3_600_000
const sweepFiles = 100

type Bytes = AsyncIterable<Uint8Array>

const newFileId = (nowMs: number): string => newId('file', nowMs).replace('_', '-')

export const fileNotFound = (id: string): Refusal =>
  refuse('file_not_found', `there is no file '${id.slice(0, 80)}'`)

const notStored = refuse('overloaded', 'the file could not be stored; try again', {
  retryAfterSeconds: 2,
})

/** A file of a caller: bounded in bytes, lines, and with all others of its account. */
export async function receiveFile(
  deps: FileDeps,
  { accountId }: Token,
  content: Bytes,
): Promise<ReceivedFile | Refusal> {
  const bounded = new BoundedContent(content)
  let written: ReceivedFile | Refusal
  try {
    written = await writeFile(deps, accountId, 'batch', bounded, true)
  } catch (error) {
    if (bounded.refusal === undefined) throw error
    return bounded.refusal
  }
  if (written instanceof Refusal || written.bytes > 0) return written
  await dropFile(deps, written.id)
  return refuse('invalid_request', 'the file is empty', { param: 'file' })
}

class BoundedContent implements Bytes {
  readonly #content: Bytes
  refusal: Refusal | undefined

  constructor(content: Bytes) {
    this.#content = content
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    let bytes = 0
    let lines = 0
    let isOpen = false
    for await (const piece of this.#content) {
      bytes += piece.byteLength
      for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, at + 1)) lines++
      isOpen = piece.at(-1) !== newline
      if (bytes > maxFileBytes) this.refusal = tooLarge
      else if (lines + (isOpen ? 1 : 0) > maxBatchLines) this.refusal = tooManyLines
      if (this.refusal !== undefined) throw new Error(this.refusal.message)
      yield piece
    }
  }
}

const newline = 0x0a
const tooLarge = refuse('request_too_large', `a file may have at most ${maxFileBytes} bytes`, {
  param: 'file',
})
const tooManyLines = refuse('invalid_request', `a file may have at most ${maxBatchLines} lines`, {
  param: 'file',
})

/**
 * Writes content under a new id; it is listed once it is kept. `isLimited`: by what its account keeps. Fails as
 * its content does.
 */
export async function writeFile(
  deps: FileDeps,
  accountId: string,
  purpose: FilePurpose,
  content: Bytes,
  isLimited = false,
): Promise<ReceivedFile | Refusal> {
  const { store, clock, seal, log } = deps
  const main = mainStore(deps)
  const createdAtMs = clock.nowMs()
  const id = newFileId(createdAtMs)
  const expiresAtMs = createdAtMs + keptMs
  const refused = await store.tx(async (tx) => {
    const kept = isLimited ? await accountFiles(tx, accountId) : { count: 0, bytes: 0 }
    if (kept.count >= maxFiles) return noRoom(`the number of ${maxFiles}`)
    if (kept.bytes >= maxAccountBytes) return noRoom(`${maxAccountBytes} bytes`)
    await insertPending(tx, { id, accountId, purpose, place: main.place, createdAtMs, expiresAtMs })
    return undefined
  })
  if (refused !== undefined) return refused
  const counted = new CountedContent(content)
  const written = await main.write(id, encrypted(seal, id, counted))
  const { bytes, failure } = counted
  if ('problem' in written) {
    await dropFile(deps, id)
    if (failure !== undefined) throw failure.error
    log.warn('file not stored', { file: id, error: written.problem })
    return notStored
  }
  await store.tx((tx) => sizePending(tx, { id, bytes, storedBytes: written.bytes }))
  return { id, bytes }
}

class CountedContent implements Bytes {
  readonly #content: Bytes
  bytes = 0
  failure: { error: unknown } | undefined

  constructor(content: Bytes) {
    this.#content = content
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.#content) {
        this.bytes += piece.byteLength
        yield piece
      }
    } catch (error) {
      this.failure = { error }
      throw error
    }
  }
}

const noRoom = (reached: string): Refusal =>
  refuse(
    'request_too_large',
    `the files of this account have reached ${reached}; delete some of them`,
  )

export async function keepFile(
  { store, clock }: FileDeps,
  { id }: ReceivedFile,
  { filename, expiresAfterSeconds }: FileTerms,
): Promise<AccountFile | Refusal> {
  const createdAtMs = clock.nowMs()
  const livesMs = expiresAfterSeconds === undefined ? keptMs : expiresAfterSeconds * 1000
  const terms = { filename, createdAtMs, expiresAtMs: createdAtMs + livesMs }
  return (await store.tx((tx) => keepPending(tx, id, terms))) ?? notStored
}

export async function readFile(
  { store, clock }: FileDeps,
  { accountId }: Pick<Token, 'accountId'>,
  id: string,
): Promise<StoredFile | Refusal> {
  return (await findFile(store.read, accountId, id, clock.nowMs())) ?? fileNotFound(id)
}

/** Undefined: this gateway cannot reach its content. */
export async function openContent(
  deps: FileDeps,
  { id, place, storedBytes }: StoredFile,
): Promise<AsyncGenerator<Buffer> | undefined> {
  const range = { first: 0, last: storedBytes - 1 }
  const stored = await storeAt(deps, place)?.open(id, range)
  if (stored === undefined) return undefined
  const bytes = stored instanceof Blob ? stored.stream() : stored
  return decrypted(deps.seal, id, bytes as unknown as Bytes)
}

export async function openFile(
  deps: FileDeps,
  token: Token,
  id: string,
): Promise<{ file: AccountFile; body: ReadableStream<Uint8Array> } | Refusal> {
  const file = await readFile(deps, token, id)
  if (file instanceof Refusal) return file
  const content = await openContent(deps, file)
  if (content === undefined) return fileNotFound(id)
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await content.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await content.return(undefined)
    },
  })
  return { file, body }
}

export async function deleteFile(
  deps: FileDeps,
  token: Token,
  id: string,
): Promise<AccountFile | Refusal> {
  const file = await readFile(deps, token, id)
  if (file instanceof Refusal) return file
  const isFree = await deps.store.tx(async (tx) => {
    // Locks it: a batch that is created now waits, and does not find it.
    await keepUntil(tx, id, 0)
    if (await isInUse(tx, id, token.accountId)) return false
    await markGone(tx, id)
    return true
  })
  if (!isFree) {
    return refuse('conflict', `the file '${id}' is the input of a batch that has not ended`)
  }
  await dropFile(deps, id, file.place)
  return file
}

/** Its row goes last: content that could not be removed is found again. */
export async function dropFile(
  deps: FileDeps,
  id: string,
  place = mainStore(deps).place,
): Promise<void> {
  await deps.store.tx((tx) => markGone(tx, id))
  const isRemoved = await storeAt(deps, place)?.remove(id)
  if (isRemoved) await deps.store.tx((tx) => deleteFileRow(tx, id))
}

/** Removes what has expired, was deleted, or was never completed. */
export async function sweepExpired(deps: FileDeps): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const due = { nowMs, pendingBeforeMs: nowMs - pendingMs, limit: sweepFiles }
  for (const { id, place } of await disposableFiles(deps.store.read, due)) {
    if (storeAt(deps, place) !== undefined) await dropFile(deps, id, place)
  }
}
