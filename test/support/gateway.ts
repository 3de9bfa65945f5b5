// A real gateway process for tests: started as a person would start it, on a free port and in a
// data directory of its own.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownEnv } from './own-env.ts'

export const root = new URL('../..', import.meta.url).pathname
export const adminToken = 'admin-token-for-tests-0123456789'
export const apiToken = 'sk-test-0123456789abcdefghijklmnop'

export interface GatewayOptions {
  /** Text of gateway.yaml; default: account acme with 100.00 and the token above. */
  config?: string
  env?: Record<string, string>
  /** Default: a new one, in a whole run with the tables of a new database in it. */
  dataDir?: string
  port?: number
  /** The command that is started; default: this repository's. */
  program?: string
}

export interface TestGateway {
  url: string
  pid: number
  dataDir: string
  /** Everything printed so far. */
  output: () => string
  /** Resolves when the process is gone, however it went. */
  exited: Promise<unknown>
  hasExited(): boolean
  /** Sends a signal and gives the exit code; null when a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Calls the admin API; gives the parsed body, whatever the status. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>
  /** Posts to the data plane as the test token. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  chat(content: string, extra?: Record<string, unknown>): Promise<Response>
}

export const defaultConfig = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
`

const made: string[] = []

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  made.push(dir)
  return dir
}

process.on('exit', () => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

/** The tables that a whole run has made once: to make them is a third of a start. */
function newDataDir({ env }: GatewayOptions): string {
  const dir = tempDir()
  const tables = process.env['TEST_EMPTY_DATABASE']
  const makesThem =
    env?.['GATEWAY_DATABASE_URL'] !== undefined || env?.['GATEWAY_CRASH_AT'] !== undefined
  if (tables && !makesThem) copyFileSync(tables, join(dir, 'gateway.db'))
  return dir
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const dataDir = options.dataDir ?? newDataDir(options)
  const configPath = join(tempDir(), 'gateway.yaml')
  writeFileSync(configPath, options.config ?? defaultConfig)
  const child = Bun.spawn([options.program ?? join(root, 'bin/gateway'), 'start'], {
    cwd: tempDir(),
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...ownEnv,
      GATEWAY_PORT: String(options.port ?? 0),
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_CONFIG: configPath,
      GATEWAY_ADMIN_TOKEN: adminToken,
      ...options.env,
    },
  })
  let output = ''
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) output += decoder.decode(bytes, { stream: true })
  }
  const collected = [collect(child.stdout), collect(child.stderr)]
  const url = await readyUrl(
    () => output,
    child.exited.then(() => Promise.all(collected)),
  )
  const gateway: TestGateway = {
    url,
    pid: child.pid,
    dataDir,
    output: () => output,
    exited: child.exited,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await child.exited
      return child.signalCode === null ? child.exitCode : null
    },
    async admin(method, path, body) {
      const response = await fetch(`${url}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    post: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiToken}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    chat(content, extra = {}) {
      const messages = [{ role: 'user', content }]
      return gateway.post('/v1/chat/completions', { model: 'txta-plus', messages, ...extra })
    },
  }
  return gateway
}

/** A start that must fail; gives the exit code and what was printed. */
export async function failedStart(
  env: Record<string, string>,
): Promise<{ code: number; text: string }> {
  const child = Bun.spawn([join(root, 'bin/gateway'), 'start'], {
    cwd: tempDir(),
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...ownEnv,
      GATEWAY_PORT: '0',
      GATEWAY_DATA_DIR: tempDir(),
      ...env,
    },
  })
  const text = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, text }
}

async function readyUrl(output: () => string, exited: Promise<unknown>): Promise<string> {
  let gone = false
  exited.then(() => {
    gone = true
  })
  for (;;) {
    const ready = /^ready (http:\/\/localhost:\d+)$/m.exec(output())
    if (ready !== null) return ready[1]!
    if (gone) throw new Error(`the gateway did not start:\n${output()}`)
    await Bun.sleep(10)
  }
}
