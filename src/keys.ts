// The gateway's own secrets: the master key and the admin token. Given by the environment, or made
// on the first start and kept in the data directory, readable by its owner only.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { newSecret } from './lib/ids.ts'

const masterKeyBytes = 32

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

/** What there is of them, without making any and without judging who else can read them. */
export function keysThere(config: Config): Partial<Omit<OwnKeys, 'adminTokenIsNew'>> {
  const read = (name: string): string | undefined => {
    try {
      return readFileSync(join(config.dataDir, name), 'utf8').trim()
    } catch {
      return undefined
    }
  }
  const stored = config.masterKey ?? Buffer.from(read('master.key') ?? '', 'base64')
  const adminToken = config.adminToken ?? read('admin-token')
  return {
    ...(stored.length === masterKeyBytes && { masterKey: stored }),
    ...(adminToken !== undefined && { adminToken }),
  }
}

/** Whatever of the settings must never be read in a text. */
export function secretsIn({ file, traces, ...config }: Config, keys: OwnKeys): string[] {
  const { s3 } = file.media ?? {}
  const masterKey = Buffer.from(keys.masterKey)
  return [
    keys.adminToken,
    masterKey.toString('base64'),
    ...(s3 === undefined ? [] : [s3.access_key, s3.secret_key]),
    ...[config.databaseUrl, config.redisUrl].flatMap(passwordIn),
    ...Object.values(traces?.headers ?? {}).flatMap((value) => [value, value.split(' ').at(-1)!]),
  ]
}

/** The same, and what is known otherwise once the gateway has started. */
export const allSecretsIn = (config: Config, keys: OwnKeys): string[] => [
  ...secretsIn(config, keys),
  ...config.file.channels.flatMap((channel) => channel.keys.flatMap((key) => key.split('|'))),
  ...config.file.tokens.flatMap(({ token = [] }) => token),
  ...(config.file.callbacks === undefined ? [] : [config.file.callbacks.secret]),
]

function passwordIn(url: string | undefined): string[] {
  const password = url === undefined || !URL.canParse(url) ? '' : new URL(url).password
  return password === '' ? [] : [password, decoded(password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
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
  const { text } = kept(dataDir, 'master.key', () => randomBytes(masterKeyBytes).toString('base64'))
  const key = Buffer.from(text, 'base64')
  if (key.length === masterKeyBytes) return key
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
