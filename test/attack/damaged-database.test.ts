// Files of the embedded database that were lost, cut, swapped or overwritten while no gateway ran: the
// start is refused with a sentence about what to do, and nothing is credited anew. And two gateways on
// one directory, whatever was deleted there.
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { readAccount } from '../support/books.ts'
import {
  adminToken,
  defaultConfig,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const caseLimitMs = 60_000
const wrongSetting = 78
let dataDir: string
let gateway: TestGateway | undefined
const at = (name: string) => join(dataDir, name)

/** Of a gateway that has served and was killed, so that its newest commits are in the log. */
const killed = tempDir()
beforeAll(async () => {
  const served = await startGateway({ dataDir: killed })
  for (let call = 0; call < 3; call++) await (await served.chat('hi')).text()
  // What was written first is merged into the file by now; more comes after it.
  while (statSync(join(killed, 'gateway.db')).size < 100_000) await Bun.sleep(50)
  await (await served.chat('newest')).text()
  // A read comes after all records are in the database.
  await served.admin('GET', '/requests')
  await served.stop('SIGKILL')
})
beforeEach(() => {
  dataDir = tempDir()
  cpSync(killed, dataDir, { recursive: true, preserveTimestamps: true })
})
afterEach(async () => {
  if (gateway?.hasExited() === false) await gateway.stop('SIGKILL')
})

async function start(): Promise<{ code: number; text: string }> {
  const config = join(tempDir(), 'gateway.yaml')
  writeFileSync(config, defaultConfig)
  const child = Bun.spawn([join(root, 'bin/gateway'), 'start'], {
    cwd: tempDir(),
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...ownEnv,
      GATEWAY_PORT: '0',
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_CONFIG: config,
      GATEWAY_ADMIN_TOKEN: adminToken,
    },
  })
  let text = ''
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) {
      text += new TextDecoder().decode(bytes)
      // It should have been refused.
      if (text.includes('ready http')) child.kill('SIGKILL')
    }
  }
  await Promise.all([collect(child.stdout), collect(child.stderr)])
  return { code: await child.exited, text }
}

async function expectRefused(...says: string[]): Promise<void> {
  const { code, text } = await start()
  expect([code, text]).toEqual([wrongSetting, expect.stringMatching(/^gateway: [^\n]*\n$/)])
  for (const each of says) expect(text).toContain(each)
}

test('what was killed starts again with all it had, and leaves a mark that is not behind', async () => {
  gateway = await startGateway({ dataDir })
  const { body } = await gateway.admin('GET', '/requests')
  expect(body.items).toHaveLength(4)
  expect(statSync(at('gateway.mark')).mode & 0o777).toBe(0o600)
})

describe('a start is refused, and names backups and the mark, when', () => {
  const damages: [string, () => void][] = [
    ['the log is deleted', () => rmSync(at('gateway.db-wal'))],
    ['the log is emptied', () => truncateSync(at('gateway.db-wal'), 0)],
    ['the log is cut off in its first page', () => truncateSync(at('gateway.db-wal'), 4_000)],
    [
      'the log is overwritten',
      () => {
        const bytes = readFileSync(at('gateway.db-wal'))
        writeFileSync(at('gateway.db-wal'), bytes.fill(0xaa, 32))
      },
    ],
    [
      'the database is deleted',
      () => {
        for (const name of ['gateway.db', 'gateway.db-wal', 'gateway.db-shm']) rmSync(at(name))
      },
    ],
    [
      'the database is emptied',
      () => {
        truncateSync(at('gateway.db'), 0)
        rmSync(at('gateway.db-wal'))
      },
    ],
    [
      'another database takes its place',
      () => {
        for (const name of ['gateway.db-wal', 'gateway.db-shm']) rmSync(at(name))
        const other = new (require('bun:sqlite').Database)(at('other.db'))
        other.run('CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)')
        other.close()
        copyFileSync(at('other.db'), at('gateway.db'))
      },
    ],
    ['the mark is changed', () => writeFileSync(at('gateway.mark'), 'v1 nothing\n')],
  ]
  test.each(damages)('%s', async (_, damage) => {
    damage()
    await expectRefused('has lost data', 'restore a backup', 'delete gateway.mark')
    // And it stays refused: a refusal makes nothing that the next start could take.
    await expectRefused('has lost data')
  })

  test('an older copy is put back by hand', async () => {
    const older = tempDir()
    gateway = await startGateway({ dataDir })
    await gateway.stop()
    cpSync(at('gateway.db'), join(older, 'gateway.db'))
    gateway = await startGateway({ dataDir })
    await (await gateway.chat('later')).text()
    await gateway.stop()
    cpSync(join(older, 'gateway.db'), at('gateway.db'))
    await expectRefused('has lost data', 'restore a backup')
    rmSync(at('gateway.mark'))
    gateway = await startGateway({ dataDir })
    expect((await readAccount(gateway)).balance).not.toBe('100.00')
  })
})

describe('records that only the journal has', () => {
  const journaled = tempDir()
  beforeAll(async () => {
    const env = { GATEWAY_CRASH_AT: 'records-journaled:2' }
    const served = await startGateway({ dataDir: journaled, env })
    await (await served.chat('first')).text()
    await served.chat('second').catch(() => {})
    await served.exited
  })
  beforeEach(() => {
    rmSync(dataDir, { recursive: true })
    cpSync(journaled, dataDir, { recursive: true })
  })

  test('are in the ledger after the next start', async () => {
    gateway = await startGateway({ dataDir })
    expect((await gateway.admin('GET', '/requests')).body.items).toHaveLength(2)
    expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true })
    expect(statSync(at('gateway.journal-a')).mode & 0o777).toBe(0o600)
  })

  const cut = (bytes: number) => {
    const name = at('gateway.journal-a')
    truncateSync(name, statSync(name).size - bytes)
  }
  const flip = (from: number) => {
    const bytes = readFileSync(at('gateway.journal-a'))
    bytes[from]! ^= 1
    writeFileSync(at('gateway.journal-a'), bytes)
  }
  test.each<[string, () => void]>([
    ['deleted', () => rmSync(at('gateway.journal-a'))],
    ['cut off in its last batch', () => cut(10)],
    ['changed in its first batch', () => flip(4_200)],
    [
      'with a changed mark',
      () => writeFileSync(at('gateway.journal-mark'), 'v1 nothing\n'.repeat(20)),
    ],
    [
      'deleted with its mark',
      () => {
        for (const name of ['journal-a', 'journal-b', 'journal-mark']) rmSync(at(`gateway.${name}`))
      },
    ],
    ['not the one that is deleted', () => rmSync(at('gateway.journal-b'))],
    [
      'cut off and without its mark',
      () => {
        cut(10)
        rmSync(at('gateway.journal-mark'))
      },
    ],
    [
      'that of another database',
      () => {
        const bytes = readFileSync(at('gateway.journal-a'))
        const line = { ...JSON.parse(bytes.toString('utf8', 0, 4096)), databaseId: 'another' }
        bytes.write(`${JSON.stringify(line).padEnd(4095)}\n`)
        writeFileSync(at('gateway.journal-a'), bytes)
      },
    ],
  ])('are missed when the journal is %s', async (_, damage) => {
    damage()
    await expectRefused('has lost data', 'gateway.journal-*', 'delete gateway.mark')
    rmSync(at('gateway.mark'))
    gateway = await startGateway({ dataDir })
    await gateway.stop()
    gateway = await startGateway({ dataDir })
  })
})

describe('a power cut that took the content of', () => {
  const zeros = (name: string) => writeFileSync(at(name), Buffer.alloc(statSync(at(name)).size))
  const empty = (name: string) => truncateSync(at(name), 0)
  const both = ['gateway.mark', 'gateway.journal-mark']
  test.each<[string, string[], (name: string) => void]>([
    ['both marks', both, zeros],
    ['both marks and their sizes', both, empty],
    ['the mark of the journal', ['gateway.journal-mark'], zeros],
  ])(
    '%s prevents no start',
    async (_, names, damage) => {
      for (const name of names) damage(name)
      gateway = await startGateway({ dataDir })
      expect((await gateway.admin('GET', '/requests')).body.items).toHaveLength(4)
      for (const name of both) expect(readFileSync(at(name), 'utf8')).toStartWith('v1 ')
      await gateway.stop('SIGKILL')
      // From here on it counts again.
      truncateSync(at('gateway.db-wal'), 0)
      await expectRefused('has lost data')
    },
    caseLimitMs,
  )

  test('the mark, and then the database was lost, is refused', async () => {
    zeros('gateway.mark')
    for (const name of ['gateway.db', 'gateway.db-wal', 'gateway.db-shm']) rmSync(at(name))
    await expectRefused('has lost data')
  })

  test('the master key is refused with a word about it, and makes no other', async () => {
    const key = readFileSync(at('master.key'))
    zeros('master.key')
    await expectRefused('master.key had lost its content', 'put the key back')
    await expectRefused('master.key is missing', 'put the key back')
    writeFileSync(at('master.key'), key, { mode: 0o600 })
    gateway = await startGateway({ dataDir })
    expect((await gateway.admin('GET', '/requests')).body.items).toHaveLength(4)
  })
})

test('a stop and starts after it are no loss, whichever version made the directory', async () => {
  for (const old of [false, true]) {
    gateway = await startGateway({ dataDir })
    await (await gateway.chat('hi')).text()
    expect(await gateway.stop()).toBe(0)
    if (!old) continue
    const db = new (require('bun:sqlite').Database)(at('gateway.db'))
    db.run("DELETE FROM meta WHERE key = 'journal_marked'")
    db.close()
  }
  gateway = await startGateway({ dataDir })
  expect((await gateway.admin('GET', '/requests')).body.items).toHaveLength(6)
})

test('a loss can be accepted by deleting the mark', async () => {
  rmSync(at('gateway.db-wal'))
  await expectRefused('delete gateway.mark')
  rmSync(at('gateway.mark'))
  gateway = await startGateway({ dataDir })
  expect(existsSync(at('gateway.mark'))).toBe(true)
  expect((await gateway.admin('POST', '/audit')).status).toBe(200)
})

test('zeroed and garbage pages are refused with a word about backups', async () => {
  gateway = await startGateway({ dataDir })
  await gateway.stop()
  const whole = readFileSync(at('gateway.db'))
  for (const fill of [0, 0xaa]) {
    writeFileSync(at('gateway.db'), Buffer.from(whole).fill(fill, 8 * 4096, 20 * 4096))
    await expectRefused('damaged', 'restore it from a backup')
  }
  writeFileSync(at('gateway.db'), Buffer.alloc(whole.length))
  const { code, text } = await start()
  expect(code).toBe(wrongSetting)
  expect(text).toContain('backup')
  writeFileSync(at('gateway.db'), whole)
  gateway = await startGateway({ dataDir })
})

test('a deleted lock file lets no second gateway in', async () => {
  gateway = await startGateway({ dataDir })
  for (const name of ['gateway.lock', 'gateway.lock-journal']) rmSync(at(name), { force: true })
  await expectRefused('in use by another gateway')
  await gateway.stop()
  gateway = await startGateway({ dataDir })
})

test('a missing master key is refused and no other is made', async () => {
  const key = readFileSync(at('master.key'))
  rmSync(at('master.key'))
  await expectRefused('master.key is missing', 'put the key back')
  expect(existsSync(at('master.key'))).toBe(false)
  writeFileSync(at('master.key'), key, { mode: 0o600 })
  gateway = await startGateway({ dataDir })
})
