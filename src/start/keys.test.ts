// The gateway's own secrets on the disk: durable before they are used, whole or absent, and made anew when a power
// cut or a full disk has left only their names.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { loadConfig } from '../config/index.ts'
import { disk } from '../lib/disk.ts'
import { loadKeys } from './keys.ts'

const real = { ...disk }
let parent: string
let dataDir: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gateway-keys-'))
  dataDir = join(parent, 'a', 'data')
})
afterEach(() => {
  Object.assign(disk, real)
  rmSync(parent, { recursive: true, force: true })
})

const load = (more: Record<string, string> = {}) =>
  loadKeys(loadConfig({ GATEWAY_DATA_DIR: dataDir, ...more }, parent))
const at = (name: string) => join(dataDir, name)
const put = (name: string, content: string | Uint8Array) => {
  load()
  writeFileSync(at(name), content, { mode: 0o600 })
}

test('they have their names only when their content is on the disk, and the names are, too', () => {
  const done: string[] = []
  const plain = (name: string) => name.replace(/\.\d+\.tmp$/, ' (unnamed)')
  disk.sync = (file) => {
    done.push(`sync ${plain(basename(readlinkSync(`/proc/self/fd/${file}`)))}`)
    real.sync(file)
  }
  disk.link = (from, to) => {
    done.push(`name ${basename(String(to))}`)
    real.link(from, to)
  }
  load()
  expect(done).toEqual([
    'sync a',
    `sync ${basename(parent)}`,
    'sync master.key (unnamed)',
    'name master.key',
    'sync data',
    'sync admin-token (unnamed)',
    'name admin-token',
    'sync data',
  ])
})

test('they are for this user only, and the same at the next start', () => {
  const first = load()
  expect(first).toMatchObject({ masterKeyIsNew: true, adminTokenIsNew: true })
  for (const name of ['master.key', 'admin-token']) {
    expect(statSync(at(name)).mode & 0o777).toBe(0o600)
  }
  const again = load()
  expect(again).toMatchObject({ masterKeyIsNew: false, adminTokenIsNew: false })
  expect([...again.masterKey]).toEqual([...first.masterKey])
  expect(again.adminToken).toBe(first.adminToken)
})

describe('a disk that fails leaves nothing of them:', () => {
  const full = () => {
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  }
  test.each(['write', 'sync', 'link'] as const)('%s', (operation) => {
    disk[operation] = full
    // Directories are synced before.
    if (operation === 'sync') {
      disk.sync = (file) => (statSync(`/proc/self/fd/${file}`).isFile() ? full() : undefined)
    }
    expect(() => load()).toThrow('cannot be used (ENOSPC)')
    expect(readdirSync(dataDir)).toEqual([])
    Object.assign(disk, real)
    expect(load().masterKeyIsNew).toBe(true)
  })

  test('a write that takes only a part goes on', () => {
    disk.write = ((file: number, bytes: Buffer, from: number, _: number, position: number) =>
      real.write(file, bytes, from, 1, position)) as typeof disk.write
    const { masterKey } = load()
    Object.assign(disk, real)
    expect([...load().masterKey]).toEqual([...masterKey])
  })
})

describe('a file that has lost its content', () => {
  const torn: [string, string | Uint8Array][] = [
    ['master.key', ''],
    ['master.key', new Uint8Array(45)],
    ['master.key', 'AAAAAAAAAAAAAAAAAAAA'],
    ['admin-token', ''],
    ['admin-token', '\n'],
    ['admin-token', new Uint8Array(47)],
    ['admin-token', 'admin-AbCd'],
  ]
  test.each(torn)('is made anew: %s with %p', (name, content) => {
    put(name, content)
    const { torn, ...keys } = load()
    expect(torn).toEqual([at(name)])
    expect(keys.masterKeyIsNew).toBe(name === 'master.key')
    expect(keys.adminTokenIsNew).toBe(name === 'admin-token')
    expect(readFileSync(at(name), 'utf8')).toMatch(/^.{44,46}\n$/)
    expect(load().torn).toBeUndefined()
    expect(existsSync(at(`${name}.${process.pid}.tmp`))).toBe(false)
  })

  test('is not one that someone has written wrongly', () => {
    put('master.key', 'a key in words\n')
    expect(() => load()).toThrow('does not hold 32 bytes in base64')
    writeFileSync(at('master.key'), `${Buffer.alloc(32, 7).toString('hex')}\n`)
    expect(() => load()).toThrow('does not hold 32 bytes in base64')
  })
})
