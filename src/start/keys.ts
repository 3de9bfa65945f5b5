// The gateway's own secrets: the master key and the admin token. Set by the environment, or
// generated on the first start and stored in the data directory, readable by its owner only.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../config/index.ts'
import { cloudFrom, secretsIn as cloudSecretsIn } from '../contract/config-schema/channel/auth.ts'
import type { ChannelDeclaration as Declared } from '../contract/config-schema/index.ts'
import { newSecret } from '../lib/crypto/ids.ts'
import { createFile, makeDirectory } from '../lib/disk.ts'

const masterKeyBytes = 32
const masterKeyFile = 'master.key'

export interface OwnKeys {
  masterKey: Uint8Array
  adminToken: string
  /** The admin token was just generated, so it must be shown. */
  adminTokenIsNew: boolean
  /** The master key was just generated. */
  masterKeyIsNew: boolean
  /** Paths of those that had lost their content and were generated anew. */
  torn?: readonly string[]
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
  ...config.file.channels.flatMap(secretsOfChannel),
  ...config.file.tokens.flatMap(({ token = [] }) => token),
  ...(config.file.callbacks === undefined ? [] : [config.file.callbacks.secret]),
  ...config.file.webhooks.flatMap(({ secret = [] }) => secret),
]

const secretsOfChannel = ({ keys, auth, vertex, request }: Declared): string[] => [
  ...keys.flatMap((key) => key.split('|')),
  ...(auth === undefined ? [] : cloudFrom(auth, vertex).keys.flatMap(cloudSecretsIn)),
  ...Object.values(request?.headers?.set ?? {}).filter((value) => value.length >= minSecretLength),
]

/** Shorter values of headers are words. */
const minSecretLength = 8

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
  makeDirectory(dataDir, 0o700)
  const masterKey = config.masterKey === undefined ? keptMasterKey(config) : undefined
  const adminToken = config.adminToken === undefined ? keptAdminToken(config) : undefined
  const torn = [masterKey, adminToken].flatMap((each) => (each?.wasTorn ? [each.path] : []))
  return {
    masterKey: config.masterKey ?? Buffer.from(masterKey!.text, 'base64'),
    masterKeyIsNew: masterKey?.isNew === true,
    adminToken: config.adminToken ?? adminToken!.text,
    adminTokenIsNew: adminToken?.isNew === true,
    ...(torn.length > 0 && { torn }),
  }
}

function keptMasterKey({ dataDir }: Config): Kept {
  const path = join(dataDir, masterKeyFile)
  const make = () => randomBytes(masterKeyBytes).toString('base64')
  const found = kept(path, make, masterKeyPart)
  if (Buffer.from(found.text, 'base64').length === masterKeyBytes) return found
  throw new ConfigError(`${path} does not hold 32 bytes in base64.`)
}

const keptAdminToken = ({ dataDir }: Config): Kept =>
  kept(join(dataDir, 'admin-token'), () => newSecret('admin-'), adminTokenPart)

/** What a write that was cut off leaves: no line end, and fewer characters than were to come. */
const masterKeyPart = /^[A-Za-z0-9+/]{0,43}$/
const adminTokenPart = /^(a|ad|adm|admi|admin|admin-[A-Za-z0-9]{0,39})?$/

/**
 * For a start that was refused before the database had adopted a generated key: left behind, it
 * would look like the right one. Returns the message when the right one is missing.
 */
export function takeBackMadeKey({ dataDir }: Config, { masterKeyIsNew, torn = [] }: OwnKeys) {
  if (!masterKeyIsNew) return undefined
  const path = join(dataDir, masterKeyFile)
  rmSync(path, { force: true })
  const what = torn.includes(path)
    ? 'had lost its content (a power cut or a full disk)'
    : 'is missing'
  return new ConfigError(
    `${path} ${what}, but the database was made with it; put the key back, or set ` +
      'GATEWAY_MASTER_KEY to it.',
  )
}

interface Kept {
  path: string
  text: string
  isNew: boolean
  /** It was there without its content. */
  wasTorn: boolean
}

function kept(path: string, make: () => string, part: RegExp): Kept {
  const found = readOwn(path)
  const wasTorn = found !== undefined && (part.test(found) || /^[\0\s]+$/.test(found))
  if (found !== undefined && !wasTorn) return { path, text: found.trim(), isNew: false, wasTorn }
  const text = make()
  const isNew = createFile(path, `${text}\n`, wasTorn)
  // Another process has made it in the meantime.
  return { path, text: isNew ? text : readOwn(path)!.trim(), isNew, wasTorn }
}

function readOwn(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new ConfigError(`${path} can be read by others; run: chmod 600 ${path}`)
  }
  return readFileSync(path, 'utf8')
}
