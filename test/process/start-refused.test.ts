// Starts that must fail: wrong settings, and data directories a gateway must not touch. Each ends
// with code 78 and one sentence that says which setting is wrong or what to do.
import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../src/store/index.ts'
import { setMeta } from '../../src/store/sql/meta.ts'
import { startGateway, tempDir } from '../support/gateway.ts'
import {
  plainStart,
  readOnly,
  refusedStart,
  running,
  sentenceIn,
} from '../support/process/plain-start.ts'
import { hidden, wrongFiles, wrongVariables } from '../support/process/wrong-settings.ts'

const caseLimitMs = 60_000
const wrongSetting = 78

const { started, stopAll } = running()
afterEach(stopAll)

describe('a wrong setting stops the start with code 78 and one sentence:', () => {
  test.each([...wrongVariables])('%s=%s', async (variable, value, says) => {
    const { code, text } = await refusedStart({ env: { [variable]: value } })
    expect(code).toBe(wrongSetting)
    expect(sentenceIn(text)).toContain(variable)
    expect(sentenceIn(text)).toContain(says)
    expect(text).not.toContain(hidden)
  })

  test.each([...wrongFiles])('a file with %j', async (file, place, says) => {
    const { code, text } = await refusedStart({ file })
    expect(code).toBe(wrongSetting)
    expect(sentenceIn(text)).toContain(place)
    expect(sentenceIn(text)).toContain(says)
    expect(text).not.toContain(hidden)
  })

  test('a PostgreSQL server that is not there, its password kept quiet', async () => {
    const env = { GATEWAY_DATABASE_URL: `postgres://u:${hidden}@127.0.0.1:9/x` }
    const { code, text } = await refusedStart({ env })
    expect(code).toBe(wrongSetting)
    expect(sentenceIn(text)).toContain('PostgreSQL database 127.0.0.1:9/x cannot be reached')
    expect(text).not.toContain(hidden)
  })
})

describe('a data directory', () => {
  test('that is a file stops the start', async () => {
    const dataDir = join(tempDir(), 'file')
    writeFileSync(dataDir, '')
    const { code, text } = await refusedStart({ dataDir })
    expect(sentenceIn(text)).toContain(dataDir)
    expect(code).toBe(wrongSetting)
  })

  const dir = tempDir()
  const isRoot = process.getuid?.() === 0
  const within = isRoot ? readOnly(dir) : []
  if (within === undefined) console.error('left out: a read-only data directory (as root: unshare)')
  else {
    test('that cannot be written stops the start', async () => {
      if (!isRoot) chmodSync(dir, 0o500)
      const { code, text } = await refusedStart({ dataDir: dir, within })
      expect(sentenceIn(text)).toContain(dir)
      expect(code).toBe(wrongSetting)
    })
  }

  test('in use by another gateway is refused, and that one keeps serving', async () => {
    const first = await started(startGateway())
    const { code, text } = await refusedStart({ dataDir: first.dataDir })
    expect(code).toBe(wrongSetting)
    expect(sentenceIn(text)).toContain(`${first.dataDir} is in use by another gateway`)
    expect((await first.chat('still there?')).status).toBe(200)
  })

  const dbOf = (dataDir: string) => join(dataDir, 'gateway.db')

  /** A data directory as a gateway leaves it behind. */
  async function usedDir(): Promise<string> {
    const gateway = await startGateway()
    await gateway.stop()
    return gateway.dataDir
  }

  test(
    'of a newer gateway is refused',
    async () => {
      const dataDir = tempDir()
      const store = await openStore({ dataDir })
      await store.tx((tx) => setMeta(tx, 'schema_version', '999'))
      await store.close()
      const { code, text } = await refusedStart({ dataDir })
      expect(code).toBe(wrongSetting)
      expect(sentenceIn(text)).toContain('was written by a newer gateway (schema 999')
    },
    caseLimitMs,
  )

  test('with a damaged database is refused, and the file is left alone', async () => {
    const dataDir = await usedDir()
    const bytes = readFileSync(dbOf(dataDir))
    bytes.fill(0xaa, 100, 8192)
    writeFileSync(dbOf(dataDir), bytes)
    const { code, text } = await refusedStart({ dataDir })
    expect(code).toBe(wrongSetting)
    expect(sentenceIn(text)).toContain(`${dbOf(dataDir)} is not a database or is damaged`)
    expect(readFileSync(dbOf(dataDir)).equals(bytes)).toBe(true)
  })

  test('made with another master key is refused, whichever way the key is given', async () => {
    const dataDir = await usedDir()
    const other = { GATEWAY_MASTER_KEY: 'ab'.repeat(32) }
    const byVariable = await refusedStart({ dataDir, env: other })
    writeFileSync(join(dataDir, 'master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`)
    const byFile = await refusedStart({ dataDir })
    for (const { code, text } of [byVariable, byFile]) {
      expect(code).toBe(wrongSetting)
      expect(sentenceIn(text)).toContain('GATEWAY_MASTER_KEY')
    }
  })

  test.each(['master.key', 'admin-token'])('whose %s others can read is refused', async (name) => {
    const first = await plainStart()
    await first.stop()
    const path = join(first.dataDir, name)
    chmodSync(path, 0o644)
    const { code, text } = await refusedStart({ dataDir: first.dataDir })
    expect(code).toBe(wrongSetting)
    expect(sentenceIn(text)).toContain(`chmod 600 ${path}`)
  })

  test('whose database another program keeps locked is refused', async () => {
    const dataDir = await usedDir()
    const shell = new Database(dbOf(dataDir))
    shell.run('BEGIN IMMEDIATE')
    const { code, text } = await refusedStart({ dataDir })
    shell.close()
    expect(code).toBe(wrongSetting)
    // The store says in the log that it cannot write before it gives up.
    const last = text.slice(text.indexOf('gateway: '))
    expect(sentenceIn(last)).toContain(`${dbOf(dataDir)} is locked by another process`)
  })
})
