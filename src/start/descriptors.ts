// File descriptors are shared by callers, upstreams and the store. The store opens all it writes to at the start;
// when few are left, new requests are refused and idle connections closed, until there are enough again.
import { closeSync, openSync, readFileSync } from 'node:fs'
import { type Handle, refuseUnrouted } from '../app.ts'
import { refuse } from '../contract/errors.ts'
import type { Log } from '../lib/telemetry/log.ts'

const checkEveryMs = 250
/** Tried at each check. */
const probes = 8
/** Kept for calls that run, their upstreams and the files that are read. */
const maxReserve = 64

type Idling = Pick<Bun.Server<undefined>, 'closeIdleConnections'>

interface Watch {
  log: Log
  servers: readonly Idling[]
}

export class Descriptors {
  #isScarce = false
  readonly #limit = readLimit()

  /** The same while there are enough. */
  guard(handle: Handle): Handle {
    return this.#isScarce ? scarce(handle) : handle
  }

  watch(watch: Watch): void {
    setInterval(() => this.#check(watch), checkEveryMs).unref()
  }

  #check({ log, servers }: Watch): void {
    const wasScarce = this.#isScarce
    this.#isScarce = areScarce(this.#limit)
    if (this.#isScarce) for (const server of servers) server.closeIdleConnections()
    if (this.#isScarce === wasScarce) return
    if (wasScarce) log.info('there are enough file descriptors again')
    else log.warn(`few of ${this.#limit} file descriptors are left; new requests are refused`)
  }
}

/** The system gives the lowest number that is free. */
function areScarce(limit: number): boolean {
  const files: number[] = []
  try {
    while (files.length < probes) files.push(openSync('/dev/null', 'r'))
    return files.at(-1)! >= limit - Math.min(maxReserve, limit / 4)
  } catch {
    return true
  } finally {
    for (const file of files) closeSync(file)
  }
}

function readLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity)
  } catch {
    // Another system: it counts as scarce when nothing can be opened.
    return Infinity
  }
}

const tooMany = refuse('overloaded', 'the gateway has too many open connections', {
  retryAfterSeconds: 1,
})

/** The process is alive, and starting it again would help no one. */
const isAlive = /\/healthz$/

const scarce =
  (handle: Handle): Handle =>
  (request, connection) => {
    if (isAlive.test(request.url)) return handle(request, connection)
    const answer = refuseUnrouted(request, connection, tooMany)
    answer.headers.set('connection', 'close')
    return answer
  }
