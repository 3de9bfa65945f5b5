// For tests: a private Redis server that can be stopped, killed and broken, and the URL of the
// shared one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RedisClient } from 'bun'
import { freePort } from '../../../test/support/free-port.ts'

export const redisUrl = process.env['TEST_REDIS_URL']
export const hasRedisServer = Bun.which('redis-server') !== null

const tries = 4_000
const pauseMs = 25

/** Waits for a condition. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < tries; turn++) {
    if (await holds()) return
    await Bun.sleep(pauseMs)
  }
  throw new Error(`did not come about: ${what}`)
}

export interface RedisServer {
  url: string
  ask(...command: string[]): Promise<unknown>
  signal(name: NodeJS.Signals): void
  /** Kills it; start() restarts it, empty, at the same address. */
  kill(): Promise<void>
  start(): Promise<void>
  remove(): Promise<void>
}

/** One command on a separate connection. */
async function askOnce(url: string, [command = '', ...args]: string[]): Promise<unknown> {
  const client = new RedisClient(url, { autoReconnect: false })
  try {
    return await client.send(command, args)
  } finally {
    client.close()
  }
}

export async function startRedis(...settings: string[]): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-redis-'))
  const port = freePort()
  const url = `redis://127.0.0.1:${port}`
  const plain = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir]
  let child: Bun.Subprocess | undefined
  const server: RedisServer = {
    url,
    ask: (...command) => askOnce(url, command),
    signal: (name) => child?.kill(name),
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
    },
    async start() {
      child = Bun.spawn(['redis-server', '--port', String(port), ...plain, ...settings], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      // A server that wants a password replies as well.
      await until('redis-server answers', () =>
        askOnce(url, ['PING']).then(
          () => true,
          (error: Error) => error.message.startsWith('NOAUTH'),
        ),
      )
    },
    async remove() {
      await server.kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}
