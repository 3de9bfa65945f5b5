// The environment and gateway.yaml as one frozen Config, with every limit of the gateway in one
// place. The only reader of process.env; does not know what a setting is used for.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type FileDeclaration, nearestName } from '../contract/config-schema/index.ts'
import { type MailVariable, missingMailSettings } from '../contract/notices/mail.ts'
import type { OidcSettings } from '../contract/people.ts'
import { type CrashAt, type CrashPoint, crashPoints } from '../lib/crash-point.ts'
import type { MailServer } from '../lib/net/mailer.ts'
import { ConfigError, type Environment, parseConfigFile } from './file.ts'
import { readMail } from './mail.ts'
import { type MetricsPlace, readMetricsPlace } from './metrics.ts'
import {
  readAdminPlace,
  readCidrs,
  readHost,
  readPort,
  readPublicUrl,
  wrong,
  wrongSecret,
} from './network.ts'
import { readOidc } from './oidc.ts'
import { readTraceConfig, type TraceConfig } from './traces.ts'

export { ConfigError } from './file.ts'

const sandboxModes = ['auto', 'on', 'off'] as const
const logLevels = ['debug', 'info', 'warn', 'error'] as const

export interface Config {
  host: string
  /** 0 picks a free one. */
  port: number
  /** Set where administration has a port of its own. */
  admin?: { host: string; port: number }
  /** Without a trailing slash; absent, derived from the port once it is known. */
  publicUrl?: string
  /** Base of links to the console; absent: the public address, or that of the admin listener. */
  consoleUrl?: string
  /** Absolute. */
  dataDir: string
  databaseUrl?: string
  redisUrl?: string
  /** Absolute; absent when there is no file. */
  configPath?: string
  adminToken?: string
  masterKey?: Uint8Array
  sandbox: (typeof sandboxModes)[number]
  sandboxTaskSeconds: number
  /** CIDRs. */
  egressAllow: readonly string[]
  /** CIDRs of proxies with a trusted `X-Forwarded-For`. */
  trustedProxies: readonly string[]
  workers: number
  metrics: MetricsPlace
  /** Absent when tracing is off. */
  traces?: TraceConfig
  /** Absent where people sign in with passwords alone. */
  oidc?: OidcSettings
  /** Absent where no e-mail can be sent. */
  mail?: MailServer
  /** What is missing to send e-mail. */
  missingForMail: readonly MailVariable[]
  logLevel: (typeof logLevels)[number]
  /** By `npm start` or `npx`, which sit between a signal and this process. */
  startedByNpm: boolean
  /** For tests of recovery: crash at this point. */
  crashAt?: CrashAt
  file: FileDeclaration
  limits: Limits
}

/** What npm calls its ways to run the gateway; within another script it may be started to outlive it. */
const npmScripts = ['start', 'dev', 'npx']

export const limits = {
  /** Maximum request body: several images as base64 fit, a video does not. */
  bodyBytes: 32 * 1024 * 1024,
  /** Maximum time for a request body; a slow sender must not hold its memory. */
  bodyMs: 60_000,
  /** Maximum JSON depth; real requests stay under 20, and recursion must not go deeper. */
  jsonDepth: 64,
  /** Streams read on for their usage after the caller left; each still occupies an upstream. */
  abandonedStreams: 64,
  /** How long one such stream is read. */
  abandonedMs: 30_000,
  /** Calls that wait while every channel is full; more than that is overload, not a burst. */
  queuedCalls: 256,
  /** How long one of them waits; callers prefer an error to a longer wait. */
  queueMs: 2_000,
  /** How long SIGTERM waits for work in flight; orchestrators rarely wait longer. */
  drainMs: 60_000,
  /** Tokens cached in memory; about 1 KB each. */
  tokenCacheEntries: 10_000,
  /** Maximum page size of a list. */
  listPage: 500,
  /** Request line and headers; several hundred ids fit into a query. */
  headerBytes: 64 * 1024,
  /** Idle caller connections are closed after this; above the 60 s of common proxies is no gain. */
  idleConnectionSeconds: 60,
  /** Maximum size of gateway.yaml; thousands of channels fit. */
  configBytes: 4 * 1024 * 1024,
} as const

type Limits = Readonly<Record<keyof typeof limits, number>>

const variables = [
  'GATEWAY_HOST',
  'GATEWAY_PORT',
  'GATEWAY_ADMIN_HOST',
  'GATEWAY_ADMIN_PORT',
  'GATEWAY_PUBLIC_URL',
  'GATEWAY_CONSOLE_URL',
  'GATEWAY_DATA_DIR',
  'GATEWAY_DATABASE_URL',
  'GATEWAY_REDIS_URL',
  'GATEWAY_CONFIG',
  'GATEWAY_ADMIN_TOKEN',
  'GATEWAY_MASTER_KEY',
  'GATEWAY_SANDBOX',
  'GATEWAY_SANDBOX_TASK_SECONDS',
  'GATEWAY_EGRESS_ALLOW',
  'GATEWAY_TRUSTED_PROXIES',
  'GATEWAY_WORKERS',
  'GATEWAY_METRICS',
  'GATEWAY_LOG',
  'GATEWAY_CRASH_AT',
  'GATEWAY_OIDC_ISSUER',
  'GATEWAY_OIDC_CLIENT_ID',
  'GATEWAY_OIDC_CLIENT_SECRET',
  'GATEWAY_OIDC_GROUPS',
  'GATEWAY_OIDC_ONLY',
  'GATEWAY_SMTP_URL',
  'GATEWAY_SMTP_FROM',
] as const
type Variable = (typeof variables)[number]

export function loadConfig(env: Environment = process.env, cwd: string = process.cwd()): Config {
  // An empty variable counts as not set: compose files and CI pass "nothing" that way.
  const get = (variable: Variable) => env[variable] || undefined
  const databaseUrl = readDatabaseUrl(get('GATEWAY_DATABASE_URL'))
  const host = readHost('GATEWAY_HOST', get('GATEWAY_HOST') ?? '127.0.0.1')
  const port = readPort('GATEWAY_PORT', get('GATEWAY_PORT') ?? '8080')
  const admin = readAdminPlace({ host, port }, get('GATEWAY_ADMIN_HOST'), get('GATEWAY_ADMIN_PORT'))
  const egressAllow = readCidrs('GATEWAY_EGRESS_ALLOW', get('GATEWAY_EGRESS_ALLOW'))
  const settings = {
    host,
    port,
    ...(admin && { admin }),
    dataDir: resolve(cwd, get('GATEWAY_DATA_DIR') ?? 'data'),
    sandbox: readChoice('GATEWAY_SANDBOX', get('GATEWAY_SANDBOX') ?? 'auto', sandboxModes),
    sandboxTaskSeconds: readTaskSeconds(get('GATEWAY_SANDBOX_TASK_SECONDS') ?? '3'),
    egressAllow,
    trustedProxies: readCidrs('GATEWAY_TRUSTED_PROXIES', get('GATEWAY_TRUSTED_PROXIES')),
    workers: readWorkers(get('GATEWAY_WORKERS') ?? '1', databaseUrl),
    metrics: readMetricsPlace(get('GATEWAY_METRICS') ?? 'on'),
    logLevel: readChoice('GATEWAY_LOG', get('GATEWAY_LOG') ?? 'info', logLevels),
    missingForMail: missingMailSettings(get),
    startedByNpm: npmScripts.includes(env['npm_lifecycle_event'] ?? ''),
    ...withoutAbsent({
      publicUrl: readPublicUrl('GATEWAY_PUBLIC_URL', get('GATEWAY_PUBLIC_URL')),
      consoleUrl: readPublicUrl('GATEWAY_CONSOLE_URL', get('GATEWAY_CONSOLE_URL')),
      databaseUrl,
      redisUrl: readRedisUrl(get('GATEWAY_REDIS_URL')),
      adminToken: readAdminToken(get('GATEWAY_ADMIN_TOKEN')),
      masterKey: readMasterKey(get('GATEWAY_MASTER_KEY')),
      crashAt: readCrashAt(get('GATEWAY_CRASH_AT')),
      traces: readTraceConfig(env),
      oidc: readOidc(get, egressAllow),
      mail: readMail(get, egressAllow),
    }),
  }
  const named = get('GATEWAY_CONFIG')
  const read = readFile(named === undefined ? undefined : resolve(cwd, named), env, cwd)
  return freeze({ ...settings, ...read, limits })
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

const withoutAbsent = <T extends object>(settings: T): Present<T> =>
  Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Present<T>

/** For commands that check other settings than these. */
export const environment = (): Environment => ({ ...process.env })

/** The same settings with another database. */
export const loadConfigWith = (databaseUrl: string): Config =>
  loadConfig({ ...process.env, GATEWAY_DATABASE_URL: databaseUrl })

/**
 * Reads only the file again. Throws ConfigError when it is wrong or gone: dropping every
 * declaration because of a moved file would be worse than keeping the old ones.
 */
export function reloadFile(
  config: Config,
  env: Environment = process.env,
  cwd: string = process.cwd(),
): Config {
  const read = readFile(config.configPath, env, cwd)
  for (const setting of ['region', 'currency'] as const) {
    if (read.file[setting] === config.file[setting]) continue
    throw new ConfigError(
      `${read.configPath}: ${setting} cannot change from ${config.file[setting]} to ` +
        `${read.file[setting]} while the gateway runs; restart it.`,
    )
  }
  if (!Bun.deepEquals(read.file.media, config.file.media)) {
    throw new ConfigError(
      `${read.configPath}: media cannot change while the gateway runs; restart it.`,
    )
  }
  refuseEmptied(config.file, read)
  return freeze({ ...config, ...read })
}

/** A file truncated or emptied by mistake must not lock every caller out. */
function refuseEmptied(
  inForce: FileDeclaration,
  { file, configPath }: { file: FileDeclaration; configPath?: string },
): void {
  for (const section of ['tokens', 'channels'] as const) {
    const lost = inForce[section].length
    if (lost === 0 || file[section].length > 0) continue
    throw new ConfigError(
      `${configPath}: ${section} is empty now, which would take all ${lost} of the file out of ` +
        'use; if that is meant, restart the gateway.',
    )
  }
}

function readFile(
  named: string | undefined,
  env: Environment,
  cwd: string,
): { file: FileDeclaration; configPath?: string } {
  const path = named ?? resolve(cwd, 'gateway.yaml')
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (named === undefined && code === 'ENOENT') return { file: parseConfigFile('', path, env) }
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    throw new ConfigError(`GATEWAY_CONFIG: the file ${path} ${why}.`)
  }
  if (bytes.length > limits.configBytes) {
    throw new ConfigError(`GATEWAY_CONFIG: ${path} is larger than ${limits.configBytes} bytes.`)
  }
  return { file: parseConfigFile(new TextDecoder().decode(bytes), path, env), configPath: path }
}

/** Used by the command line; they may also be set where the gateway starts. */
const others = ['GATEWAY_URL', 'GATEWAY_TOKEN', 'GATEWAY_MODEL']

/**
 * One sentence for each variable that looks like a setting but is none. Not an error: orchestrators
 * inject names of this form for services called "gateway".
 */
export function unknownVariables(env: Environment = process.env): string[] {
  const known: readonly string[] = [...variables, ...others]
  return Object.keys(env)
    .filter((variable) => variable.startsWith('GATEWAY_') && !known.includes(variable))
    .map((variable) => {
      const near = nearestName(variable, variables)
      return `${variable} is not a known setting and is ignored; did you mean ${near}?`
    })
}

/** The scheme of an address; the rest may hold a password. */
function schemeIn(text: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]
  return scheme === undefined ? 'no scheme' : `the scheme ${scheme}://`
}

function readDatabaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const accepts = 'an address that begins with postgres:// or postgresql://'
  if (!/^postgres(?:ql)?:\/\//.test(text)) {
    throw wrongSecret('GATEWAY_DATABASE_URL', schemeIn(text), accepts)
  }
  if (URL.canParse(text)) return text
  throw wrongSecret('GATEWAY_DATABASE_URL', 'a form that is no address', accepts)
}

function readRedisUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const accepts = 'an address that begins with redis:// or rediss://'
  if (!/^rediss?:\/\//.test(text)) {
    throw wrongSecret('GATEWAY_REDIS_URL', schemeIn(text), accepts)
  }
  if (URL.canParse(text)) return text
  throw wrongSecret('GATEWAY_REDIS_URL', 'a form that is no address', accepts)
}

function readAdminToken(text: string | undefined): string | undefined {
  if (text === undefined || /^[\x21-\x7e]{16,1024}$/.test(text)) return text
  const accepts = 'at least 16 printable characters without spaces'
  throw wrongSecret('GATEWAY_ADMIN_TOKEN', `${text.length} characters`, accepts)
}

function readMasterKey(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined
  if (/^[0-9a-f]{64}$/i.test(text)) return new Uint8Array(Buffer.from(text, 'hex'))
  // 32 bytes are 43 characters of base64, with or without the padding, in either alphabet.
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) {
    return new Uint8Array(Buffer.from(text, 'base64'))
  }
  const accepts = '32 bytes as base64 (44 characters) or hex (64 characters)'
  throw wrongSecret('GATEWAY_MASTER_KEY', `${text.length} characters`, accepts)
}

function readChoice<T extends string>(variable: Variable, text: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === text)
  if (choice === undefined) throw wrong(variable, text, `one of ${choices.join(', ')}`)
  return choice
}

function readTaskSeconds(text: string): number {
  if (/^\d{1,5}(?:\.\d{1,3})?$/.test(text) && Number(text) <= 86_400) return Number(text)
  throw wrong('GATEWAY_SANDBOX_TASK_SECONDS', text, 'a number of seconds from 0 to 86400')
}

/** `point`, or `point:3` to crash on the third pass. */
function readCrashAt(value: string | undefined): CrashAt | undefined {
  if (value === undefined) return undefined
  const [point = '', time = '1'] = value.split(':')
  if (!crashPoints.includes(point as CrashPoint) || !/^[1-9]\d{0,8}$/.test(time)) {
    const known = crashPoints.join(', ')
    throw new ConfigError(
      `GATEWAY_CRASH_AT is ${value} but must be one of ${known}, or name:times.`,
    )
  }
  return { point: point as CrashPoint, time: Number(time) }
}

function readWorkers(text: string, databaseUrl: string | undefined): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > maxWorkers) {
    throw wrong('GATEWAY_WORKERS', text, `a whole number of at least 1 and at most ${maxWorkers}`)
  }
  if (text === '1') return 1
  if (databaseUrl === undefined) {
    throw new ConfigError(
      `GATEWAY_WORKERS is ${text}, but processes cannot share SQLite; give them PostgreSQL with ` +
        'GATEWAY_DATABASE_URL, or set it to 1.',
    )
  }
  if (process.platform === 'linux') return Number(text)
  throw new ConfigError(
    `GATEWAY_WORKERS is ${text}, but only on Linux can processes share a port; set it to 1.`,
  )
}

/** Each opens up to eleven database connections. */
const maxWorkers = 64

function freeze<T>(value: T): T {
  // The bytes of a key cannot be frozen; JavaScript has no such array.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}
