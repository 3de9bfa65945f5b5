// Checks this machine: the runtime, the data directory with its disk and its secrets, and the port.
import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { arch, platform, release } from 'node:os'
import { dirname, join } from 'node:path'
import packageJson from '../../../package.json'
import type { Config } from '../../config/index.ts'
import { formatBytes } from './bytes.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const wantedBun = packageJson.devDependencies['@types/bun']
const wantedFiles = 4_096

export function checkRuntime(): Finding[] {
  const says = `gateway ${packageJson.version}, Bun ${Bun.version}, ${platform()} ${release()} ${arch()}`
  const runtime =
    Bun.version === wantedBun
      ? ok('runtime', says)
      : warning('runtime', says, `it is tested with Bun ${wantedBun}; run it with bin/gateway`)
  const files = openFilesLimit()
  if (files === undefined || files >= wantedFiles) return [runtime]
  const low = warning(
    'open files',
    `this process may open ${files} files, and each caller and each upstream takes one`,
    'raise the limit: ulimit -n 65536, or LimitNOFILE=65536 in the unit',
  )
  return [runtime, low]
}

function openFilesLimit(): number | undefined {
  if (platform() !== 'linux') return undefined
  const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return soft === undefined ? undefined : Number(soft)
}

const tooFull = 200 * 1024 * 1024
const nearlyFull = 2 * 1024 * 1024 * 1024

export function checkDataDir({ dataDir, databaseUrl }: Config): Finding[] {
  const found = statOf(dataDir)
  if (typeof found === 'string') {
    return [
      problem(
        'data directory',
        `${dataDir} cannot be looked at (${found})`,
        'let the user that runs the gateway into every directory above it',
      ),
    ]
  }
  if (found !== undefined && !found.isDirectory()) {
    const advice = 'set GATEWAY_DATA_DIR to a directory, or move the file away'
    return [problem('data directory', `${dataDir} is not a directory`, advice)]
  }
  const existing = found === undefined ? nearestThatIs(dataDir) : dataDir
  return [checkMode(dataDir, existing, found), ...checkDisk(existing, databaseUrl === undefined)]
}

function checkMode(dataDir: string, existing: string, found: Stats | undefined): Finding {
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const what = found === undefined ? `${dataDir} cannot be made in ${existing}` : dataDir
    return problem(
      'data directory',
      `${what} cannot be written by this user (${code})`,
      `make it writable for the user that runs the gateway: chown it, or mount it read-write`,
    )
  }
  if (found === undefined) return ok('data directory', `${dataDir} will be made at the first start`)
  if ((found.mode & 0o007) === 0) return ok('data directory', `${dataDir} is writable`)
  return warning(
    'data directory',
    `${dataDir} can be entered by every user of this machine`,
    `run: chmod 700 ${dataDir}`,
  )
}

function checkDisk(dir: string, holdsDatabase: boolean): Finding[] {
  const { bavail, bsize, files, ffree } = statfsSync(dir)
  const free = bavail * bsize
  const says = `${formatBytes(free)} free on the disk of ${dir}`
  const advice = holdsDatabase
    ? 'free some space or move GATEWAY_DATA_DIR: nothing is charged, so nothing is served, on a full disk'
    : 'free some space: kept results and secrets are written here'
  if (free < tooFull) return [problem('disk', says, advice)]
  if (files > 0 && ffree === 0) return [problem('disk', 'no more files can be made on it', advice)]
  return [free < nearlyFull ? warning('disk', says, advice) : ok('disk', says)]
}

/** The start refuses these, too. */
export function checkSecretFiles({ dataDir, masterKey, adminToken }: Config): Finding[] {
  const names = [
    ...(masterKey === undefined ? ['master.key'] : []),
    ...(adminToken === undefined ? ['admin-token'] : []),
  ]
  if (names.length === 0) return [ok('secret files', 'none; both come from the environment')]
  const findings = names.map((name) => checkSecretFile(join(dataDir, name)))
  const wrong = findings.filter(({ state }) => state !== 'ok')
  return wrong.length > 0 ? wrong : findings
}

function checkSecretFile(path: string): Finding {
  const found = statOf(path)
  if (found === undefined) return ok('secret files', `${path} will be made at the first start`)
  if (typeof found === 'string') {
    const advice = 'give it to the user that runs the gateway'
    return problem('secret files', `${path} cannot be looked at (${found})`, advice)
  }
  if ((found.mode & 0o077) !== 0) {
    return problem('secret files', `${path} can be read by others`, `run: chmod 600 ${path}`)
  }
  try {
    accessSync(path, constants.R_OK)
  } catch {
    const advice = 'give it to the user that runs the gateway'
    return problem('secret files', `${path} cannot be read by this user`, advice)
  }
  return ok('secret files', `${path} is for its owner only`)
}

/** Its error code when it cannot be determined. */
function statOf(path: string): Stats | string | undefined {
  try {
    return statSync(path)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : code
  }
}

function nearestThatIs(path: string): string {
  let at = dirname(path)
  while (!existsSync(at) && at !== dirname(at)) at = dirname(at)
  return at
}

const answerLimitMs = 3_000

/** Free, or used by a healthy gateway. */
export async function checkPort({ host, port, admin, metrics }: Config): Promise<Finding[]> {
  const findings = [await checkAddress('port', host, port)]
  if (admin) findings.push(await checkAddress('admin port', admin.host, admin.port))
  if (typeof metrics === 'string') return findings
  return [...findings, await checkAddress('metrics port', metrics.host, metrics.port)]
}

const portSettings: Readonly<Record<string, string>> = {
  port: 'GATEWAY_PORT',
  'admin port': 'GATEWAY_ADMIN_PORT',
  'metrics port': 'GATEWAY_METRICS',
}

async function checkAddress(check: string, host: string, port: number): Promise<Finding> {
  if (port === 0) return ok(check, 'any that is free')
  const code = await tryToListen(host, port)
  const place = `${host}:${port}`
  if (code === undefined) return ok(check, `${place} is free`)
  if (code === 'EADDRINUSE') return whoIsAt(check, host, port)
  if (code === 'EACCES') {
    const advice = 'take a port above 1023 and put a proxy in front'
    return problem(check, `this user may not listen on ${place}`, advice)
  }
  const advice = 'set GATEWAY_HOST to an address of this machine, or to 0.0.0.0 for all of them'
  return problem(check, `nothing can listen on ${place} (${code})`, advice)
}

const tryToListen = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown error'))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })

async function whoIsAt(check: string, host: string, port: number): Promise<Finding> {
  const place = `${host}:${port}`
  const reachable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
  const wanted = check === 'metrics port' ? '/metrics' : '/readyz'
  try {
    const answer = await fetch(url + wanted, { signal: AbortSignal.timeout(answerLimitMs) })
    const text = await answer.text()
    if (wanted === '/metrics' && text.includes('gateway_'))
      return ok(check, `${place} is a gateway's`)
    const status = /"status":"([a-z ]+)"/.exec(text)?.[1]
    if (answer.headers.has('x-gateway-request-id') && status !== undefined) {
      const says = `a gateway runs on ${place}: ${status}`
      if (answer.status === 200) return ok(check, says)
      return problem(check, says, 'its log says why; /readyz is 200 when it takes calls')
    }
  } catch {
    // The program on that port does not speak HTTP.
  }
  const advice = `stop that program, or set ${portSettings[check]} to another port`
  return problem(check, `${place} is in use by another program`, advice)
}
