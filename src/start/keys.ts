// The gateway's own secrets: the master key and the admin token. Set by the environment, or
// generated on the first start and stored in the data directory, readable by its owner only.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../config/index.ts'
import { newSecret } from '../lib/crypto/ids.ts'

const masterKeyBytes = 32
const masterKeyFile = 'master.key'

export interface OwnKeys {
  masterKey: Uint8Array
  adminToken: string
  /** The admin token was just generated, so it must be shown. */
  adminTokenIsNew: boolean
  /** The master key was just generated. */
  masterKeyIsNew: boolean
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

/** The existing ones, without generating any and without checking their file modes. */
export function keysThere(config: Config): Partial<Pick<OwnKeys, 'masterKey' | 'adminToken'>> {
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

/** All settings that must never appear in a text. */
export function secretsIn({ file, traces, ...config }: Config, keys: OwnKeys): string[] {
  const { s3 } = file.media ?? {}
  const masterKey = Buffer.from(keys.masterKey)
  return [
    keys.adminToken,
    masterKey.toString('base64'),
    ...(s3 === undefined ? [] : [s3.access_key, s3.secret_key]),
    ...(config.oidc?.clientSecret === undefined ? [] : [config.oidc.clientSecret]),
    ...(config.mail?.auth === undefined ? [] : [config.mail.auth.password]),
    ...[config.databaseUrl, config.redisUrl].flatMap(passwordIn),
    ...Object.values(traces?.headers ?? {}).flatMap((value) => [value, value.split(' ').at(-1)!]),
  ]
}

/** The same, and the secrets known only after the start. */
export const allSecretsIn = (config: Config, keys: OwnKeys): string[] => [
  ...secretsIn(config, keys),
  ...config.file.channels.flatMap((channel) => channel.keys.flatMap((key) => key.split('|'))),
  ...config.file.tokens.flatMap(({ token = [] }) => token),
  ...(config.file.callbacks === undefined ? [] : [config.file.callbacks.secret]),
  ...config.file.webhooks.flatMap(({ secret = [] }) => secret),
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
  const { masterKey, masterKeyIsNew } =
    config.masterKey === undefined
      ? keptMasterKey(config)
      : { masterKey: config.masterKey, masterKeyIsNew: false }
  if (config.adminToken !== undefined) {
    const { adminToken } = config
    return { masterKey, masterKeyIsNew, adminToken, adminTokenIsNew: false }
  }
  const { text, isNew } = kept(dataDir, 'admin-token', () => newSecret('admin-'))
  return { masterKey, masterKeyIsNew, adminToken: text, adminTokenIsNew: isNew }
}

function keptMasterKey({ dataDir }: Config) {
  const make = () => randomBytes(masterKeyBytes).toString('base64')
  const { text, isNew } = kept(dataDir, masterKeyFile, make)
  const key = Buffer.from(text, 'base64')
  if (key.length === masterKeyBytes) return { masterKey: key, masterKeyIsNew: isNew }
  throw new ConfigError(`${join(dataDir, masterKeyFile)} does not hold 32 bytes in base64.`)
}

/**
 * For a start that was refused before the database had adopted a generated key: left behind, it
 * would look like the right one. Returns the message when the right one is missing.
 */
export function takeBackMadeKey({ dataDir }: Config, { masterKeyIsNew }: OwnKeys) {
  if (!masterKeyIsNew) return undefined
  const path = join(dataDir, masterKeyFile)
  rmSync(path, { force: true })
  return new ConfigError(
    `${path} is missing, but the database was made with it; put the key back, or set ` +
      'GATEWAY_MASTER_KEY to it.',
  )
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
