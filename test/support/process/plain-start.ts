// `gateway start` with nothing set but what the test sets: what it prints where, and how it ends.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, tempDir } from '../gateway.ts'
import { ownEnv } from '../own-env.ts'

export interface PlainStart {
  /** Undefined when it ended instead of getting ready. */
  url: string | undefined
  dataDir: string
  pid: number
  stdout(): string
  stderr(): string
  /** Sends a signal and gives the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
  exited: Promise<number>
}

export interface PlainOptions {
  env?: Record<string, string>
  dataDir?: string
  /** Text of a gateway.yaml in the working directory. */
  file?: string
  /** A command in front of the gateway's. */
  within?: readonly string[]
}

/** Resolves when the gateway is ready or has ended. */
export async function plainStart(options: PlainOptions = {}): Promise<PlainStart> {
  const dataDir = options.dataDir ?? tempDir()
  const cwd = tempDir()
  if (options.file !== undefined) await Bun.write(join(cwd, 'gateway.yaml'), options.file)
  const child = Bun.spawn([...(options.within ?? []), join(root, 'bin/gateway'), 'start'], {
    cwd,
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...ownEnv,
      GATEWAY_PORT: '0',
      GATEWAY_DATA_DIR: dataDir,
      ...options.env,
    },
  })
  const printed = { stdout: '', stderr: '' }
  const collect = async (name: keyof typeof printed) => {
    const decoder = new TextDecoder()
    for await (const bytes of child[name]) printed[name] += decoder.decode(bytes, { stream: true })
  }
  const collected = Promise.all([collect('stdout'), collect('stderr')])
  let ended = false
  const exited = child.exited.then(async (code) => {
    await collected
    ended = true
    return code
  })
  const readyLine = () => /^ready (\S+)\n/m.exec(printed.stdout)
  while (!ended && readyLine() === null) await Bun.sleep(10)
  return {
    url: ended ? undefined : readyLine()?.[1],
    dataDir,
    pid: child.pid,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
    exited,
  }
}

export interface RefusedStart {
  code: number
  /** All that was printed on stderr. */
  text: string
}

/** A start that must fail, and must say nothing on stdout. */
export async function refusedStart(options: PlainOptions): Promise<RefusedStart> {
  const start = await plainStart(options)
  if (start.url !== undefined) {
    await start.stop('SIGKILL')
    throw new Error('it started')
  }
  if (start.stdout() !== '') throw new Error(`it printed on stdout: ${start.stdout()}`)
  return { code: await start.exited, text: start.stderr() }
}

export const secretsIn = (text: string): string[] => text.match(/\b(?:sk|admin)-\w{20,}/g) ?? []

/** Something to run a command on a read-only directory with, even as root; undefined: no way. */
export function readOnly(dir: string): readonly string[] | undefined {
  if (!existsSync('/proc/self/ns/mnt') || Bun.which('unshare') === null) return undefined
  const mount = 'mount -t tmpfs tmpfs "$0" && mount -o remount,ro "$0" && exec "$@"'
  const command = ['unshare', '-m', '-r', 'sh', '-c', mount, dir]
  return Bun.spawnSync([...command, 'true']).success ? command : undefined
}

/** One sentence on one line, nothing before or after it. */
export function sentenceIn(text: string): string {
  const sentence = /^gateway: ([^\n]+)\n$/.exec(text)?.[1]
  if (sentence === undefined) throw new Error(`not one sentence: ${text}`)
  return sentence
}

/** Gateways of one test file, stopped after each test, however that ends. */
export function running() {
  const all: { stop(): Promise<unknown> }[] = []
  return {
    async started<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
      const gateway = await starting
      all.push(gateway)
      return gateway
    },
    async stopAll(): Promise<void> {
      await Promise.all(all.splice(0).map((gateway) => gateway.stop()))
    },
  }
}
