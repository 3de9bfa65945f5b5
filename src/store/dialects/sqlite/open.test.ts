// What only the SQLite engine can meet: files, locks, disks and sudden death.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAccount } from '../../catalog/accounts.ts'
import { openStore, StoreRefused } from '../../index.ts'
import { sumEntries } from '../../ledger/entries.ts'
import { failureOf } from '../../test-stores.ts'

const script = join(import.meta.dir, 'test-process.ts')
let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-sqlite-'))
})

afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true })
})

const inProcess = (task: string) =>
  Bun.spawn([process.execPath, script, task, dataDir], { stdout: 'pipe', stderr: 'inherit' })

/** Runs the task on a memory disk of its own that goes away with the process. */
async function onSmallDisk(task: string, mount: string): Promise<Record<string, unknown>> {
  const command = `mount -t tmpfs -o size=48m tmpfs "$1" && ${mount} exec "$2" "$3" "$4" "$1"`
  const child = Bun.spawn(
    ['unshare', '-m', '-r', 'sh', '-c', command, '-', dataDir, process.execPath, script, task],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  return JSON.parse(await child.stdout.text()) as Record<string, unknown>
}

const canMount =
  Bun.which('unshare') !== null &&
  Bun.spawnSync(['unshare', '-m', '-r', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).success

test('the directory is made for this user only', async () => {
  const inner = join(dataDir, 'a', 'b')
  await (await openStore({ dataDir: inner })).close()
  expect(statSync(inner).mode & 0o777).toBe(0o700)
})

test('a second gateway on the same directory is refused, in any process', async () => {
  const store = await openStore({ dataDir })
  const told = JSON.parse(await inProcess('open').stdout.text())
  expect(told).toMatchObject({ refused: 'StoreRefused' })
  expect(told.message).toMatch('in use by another gateway')
  expect(await failureOf(openStore({ dataDir }))).toMatch('in use by another gateway')
  await store.close()
  expect(JSON.parse(await inProcess('open').stdout.text())).toEqual({ opened: true })
})

test('what was promised before a kill is there after it', async () => {
  const child = inProcess('record')
  const stored: string[] = []
  let rest = ''
  for await (const chunk of child.stdout) {
    const lines = (rest + new TextDecoder().decode(chunk)).split('\n')
    rest = lines.pop()!
    for (const line of lines) stored.push(JSON.parse(line).stored)
    if (stored.length > 200) child.kill('SIGKILL')
  }
  await child.exited
  const store = await openStore({ dataDir })
  const rows = await store.read.selectFrom('requests').select('request_id').execute()
  const kept = new Set(rows.map((row) => row.request_id))
  expect(stored.filter((id) => !kept.has(id))).toEqual([])
  const [sum] = await sumEntries(store.read)
  expect(sum?.entries).toBe(kept.size)
  expect((await findAccount(store.read, 'acc_1'))?.balanceNanos).toBe(sum?.balanceNanos)
  await store.close()
})

test('a file that is no database is refused and left alone', async () => {
  const file = join(dataDir, 'gateway.db')
  writeFileSync(file, 'a letter to my mother, long enough to be read as a header'.repeat(40))
  const opening = openStore({ dataDir })
  expect(await opening.catch((error) => error)).toBeInstanceOf(StoreRefused)
  expect(await failureOf(opening)).toMatch(`${file} is not a database or is damaged`)
  expect(await Bun.file(file).text()).toStartWith('a letter')
})

test('a damaged database is refused', async () => {
  await (await openStore({ dataDir })).close()
  const file = join(dataDir, 'gateway.db')
  const bytes = new Uint8Array(await Bun.file(file).arrayBuffer())
  bytes.fill(0xaa, 100, 8192)
  await Bun.write(file, bytes)
  expect(await failureOf(openStore({ dataDir }))).toMatch('is not a database or is damaged')
})

test('a data directory that is a file is refused', async () => {
  const file = join(dataDir, 'file')
  writeFileSync(file, '')
  expect(await failureOf(openStore({ dataDir: file }))).toMatch('is not a directory')
})

test('a database that another program keeps locked is refused', async () => {
  await (await openStore({ dataDir })).close()
  const shell = new Database(join(dataDir, 'gateway.db'))
  shell.run('BEGIN IMMEDIATE')
  expect(await failureOf(openStore({ dataDir }))).toMatch('locked by another process')
  shell.close()
})

// Root may write anywhere, so for root the disk itself has to be read-only.
if (process.getuid?.() !== 0) {
  test('a read-only directory is refused', async () => {
    chmodSync(dataDir, 0o500)
    expect(await failureOf(openStore({ dataDir }))).toMatch('cannot be written')
    chmodSync(dataDir, 0o700)
  })
} else if (canMount) {
  test('a read-only disk is refused', async () => {
    const told = await onSmallDisk('open', 'mount -o remount,ro "$1" &&')
    expect(told).toMatchObject({ refused: 'StoreRefused' })
    expect(told['message']).toMatch('cannot be written')
  })
}

if (canMount) {
  test('a full disk refuses records, loses none, and heals when there is space', async () => {
    expect(await onSmallDisk('fill', '')).toEqual({
      failure: expect.stringMatching(/full|I\/O/i),
      healthyWhenFull: false,
      lost: 0,
      extra: 0,
      balanced: true,
    })
  })

  test('a disk that is full from the start is refused', async () => {
    const told = await onSmallDisk('open', 'head -c 49m /dev/zero > "$1/filler" 2>/dev/null;')
    expect(told['message']).toMatch('is full')
  })
} else {
  console.error(
    'left out: full-disk cases of the store (run as root on Linux, so that a memory disk can be mounted)',
  )
}
