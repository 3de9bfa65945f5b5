// A connection to Redis that may be lost at any time. Every script returns within a limit, with its
// reply or with `redisAway`; nothing here throws, waits for a dead server or keeps the process
// alive. Does not know what the scripts do.
import { createHash } from 'node:crypto'
import { RedisClient } from 'bun'
import { InFlight, type Listed } from '../in-flight.ts'

/** Instead of a reply: the server is away, too slow, or refuses the command. */
export const redisAway: unique symbol = Symbol('redis is away')

interface Script {
  readonly text: string
  readonly sha: string
}

export const newScript = (text: string): Script => ({
  text,
  sha: createHash('sha1').update(text).digest('hex'),
})

/** Runs one script: first its keys, then its other arguments. */
export type RunScript = (
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>

export interface RedisTimes {
  /** A server that takes longer for a script counts as away. */
  commandMs: number
  connectMs: number
  /** Delay between a loss and the next attempt. */
  retryMs: number
}

export interface RedisOptions {
  url: string
  times: RedisTimes
  /** First commands on a connection; resolves to whether they succeeded. */
  greet(run: RunScript): Promise<boolean>
  /** Once per outage. */
  onLost(reason: string): void
  onBack(): void
}

export interface Redis {
  /** Whether sending is worthwhile at the moment. */
  readonly ready: boolean
  readonly run: RunScript
  close(): void
}

const maxPending = 10_000
/** A command's limit is counted in ticks, so that a delayed event loop is not taken for a loss. */
const ticksPerLimit = 4

interface Pending extends Listed {
  settle(reply: unknown): void
  ticksLeft: number
}

class Connection {
  readonly #client: RedisClient
  readonly #pending = new InFlight<Pending>()
  readonly #tickMs: number
  readonly #lose: (reason: string) => void
  #ticker: ReturnType<typeof setInterval> | undefined
  #closed = false

  constructor(url: string, times: RedisTimes, lose: (reason: string) => void) {
    this.#tickMs = Math.ceil(times.commandMs / ticksPerLimit)
    this.#lose = lose
    this.#client = new RedisClient(url, {
      autoReconnect: false,
      connectionTimeout: times.connectMs,
    })
    this.#client.onclose = (error) => this.end(error?.message ?? 'connection closed')
  }

  async run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    limitMs: number,
  ): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args.map(String)]
    const reply = await this.#send('EVALSHA', [script.sha, ...rest], limitMs)
    if (reply !== unknownScript) return reply
    return this.#send('EVAL', [script.text, ...rest], limitMs)
  }

  #send(command: string, args: string[], limitMs: number): Promise<unknown> {
    if (this.#closed || this.#pending.size >= maxPending) return Promise.resolve(redisAway)
    return new Promise((resolve) => {
      const ticksLeft = Math.ceil(limitMs / this.#tickMs) + 1
      const pending = { index: -1, settle: resolve, ticksLeft }
      this.#pending.add(pending)
      this.#ticker ??= unrefInterval(() => this.#tick(), this.#tickMs)
      const settle = (reply: unknown) => {
        this.#pending.delete(pending)
        resolve(reply)
      }
      this.#client.send(command, args).then(settle, (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        if (reason.startsWith('NOSCRIPT')) return settle(unknownScript)
        settle(redisAway)
        this.end(reason)
      })
    })
  }

  #tick(): void {
    if (this.#pending.size === 0) {
      clearInterval(this.#ticker)
      this.#ticker = undefined
      return
    }
    for (const pending of this.#pending) {
      if (--pending.ticksLeft > 0) continue
      this.#pending.delete(pending)
      pending.settle(redisAway)
      // Connecting has a limit of its own.
      if (!this.#client.connected) continue
      this.end('no answer in time')
      return
    }
  }

  end(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#ticker)
    const pending = [...this.#pending]
    this.#lose(reason)
    this.#client.close()
    for (const { settle } of pending) settle(redisAway)
  }
}

const unknownScript = Symbol('unknown script')

function unrefInterval(work: () => void, everyMs: number): ReturnType<typeof setInterval> {
  const timer = setInterval(work, everyMs)
  timer.unref()
  return timer
}

class Link implements Redis {
  readonly #options: RedisOptions
  #connection: Connection | undefined
  #ready = false
  #away = false
  #closed = false
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(options: RedisOptions) {
    this.#options = options
    // The very first callers wait for the connection, so that a start is not an outage.
    this.#open(true)
  }

  get ready(): boolean {
    return this.#ready
  }

  readonly run: RunScript = (script, keys, args) => {
    const connection = this.#ready ? this.#connection : undefined
    if (connection === undefined) return Promise.resolve(redisAway)
    return connection.run(script, keys, args, this.#options.times.commandMs)
  }

  #open(readyAtOnce: boolean): void {
    const { url, times, greet } = this.#options
    let connection: Connection
    try {
      connection = new Connection(url, times, (reason) => this.#lost(reason))
    } catch (error) {
      // The URL itself is invalid; the message may repeat it, so it is not passed on.
      this.#lost(error instanceof Error ? error.name : 'no connection')
      return
    }
    this.#connection = connection
    this.#ready = readyAtOnce
    greet((script, keys, args) => connection.run(script, keys, args, times.connectMs)).then(
      (well) => (well ? this.#greeted(connection) : connection.end('no answer in time')),
      (error: unknown) => connection.end(String(error)),
    )
  }

  #greeted(connection: Connection): void {
    if (this.#connection !== connection) return
    this.#ready = true
    if (!this.#away) return
    this.#away = false
    this.#options.onBack()
  }

  #lost(reason: string): void {
    this.#connection = undefined
    this.#ready = false
    if (this.#closed) return
    if (!this.#away) {
      this.#away = true
      this.#options.onLost(reason)
    }
    this.#retry = setTimeout(() => this.#open(false), this.#options.times.retryMs)
    this.#retry.unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    this.#connection?.end('closed')
  }
}

export const openRedis = (options: RedisOptions): Redis => new Link(options)
