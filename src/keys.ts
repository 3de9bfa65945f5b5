// The gateway's own secrets: the master key and the admin token. Given by the environment, or made
// on the first start and kept in the data directory, readable by its owner only.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { newSecret } from './lib/ids.ts'

export interface OwnKeys {
  masterKey: Uint8Array
  adminToken: string
  /** The admin token was made just now, so it must be shown. */
  adminTokenIsNew: boolean
}

export function loadKeys(config: Config): OwnKeys {
  const { dataDir } = config
  try {
    return readOrMake(config)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new ConfigError(`GATEWAY_DATA_DIR: ${path ?? dataDir} cannot be used (${code}).`)
  }
}

function readOrMake(config: Config): OwnKeys {
  const { dataDir } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const masterKey = config.masterKey ?? keptMasterKey(dataDir)
  if (config.adminToken !== undefined) {
    return { masterKey, adminToken: config.adminToken, adminTokenIsNew: false }
  }
  const { text, isNew } = kept(dataDir, 'admin-token', () => newSecret('admin-'))
  return { masterKey, adminToken: text, adminTokenIsNew: isNew }
}

function keptMasterKey(dataDir: string): Uint8Array {
  const { text } = kept(dataDir, 'master.key', () => randomBytes(32).toString('base64'))
  const key = Buffer.from(text, 'base64')
  if (key.length === 32) return key
  throw new ConfigError(`${join(dataDir, 'master.key')} does not hold 32 bytes in base64.`)
}

function kept(dir: string, name: string, make: () => string): { text: string; isNew: boolean } {
  const path = join(dir, name)
  if (existsSync(path)) {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new ConfigError(`${path} can be read by others; run: chmod 600 ${path}`)
    }
    return { text: readFileSync(path, 'utf8').trim(), isNew: false }
  }
  const text = make()
  writeFileSync(path, `${text}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(path, 0o600)
  return { text, isNew: true }
}
