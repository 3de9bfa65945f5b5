// Starts processes, waits until they are ready, and ends them again, each by its own id.
// Refuses to know what they are.

import { readFileSync } from 'node:fs'
import type { Subprocess } from 'bun'

export interface Child {
  pid: number
  /** Writes a line to its input. */
  send(line: string): void
  /** The next line it prints that matches: the first group of the match, or all of it. */
  waitForLine(pattern: RegExp, timeoutMs: number): Promise<string>
  waitUntil(ready: () => Promise<boolean>, timeoutMs: number): Promise<void>
  /** How it ended and the last it wrote to its log; undefined while it runs. */
  exitReport(): string | undefined
  stop(): Promise<void>
}

interface ChildOptions {
  name: string
  command: string[]
  cwd: string
  env?: Record<string, string | undefined>
  /** Collects what it prints to stderr; its end is shown when the child does not become ready. */
  logFile: string
}

type Running = Subprocess<'pipe', 'pipe'>

/** As many open files as the system lets a process have: every stream takes two of the gateway's. */
const withManyFiles = ['sh', '-c', 'ulimit -n "$(ulimit -Hn)"; exec "$@"', 'sh']
const pollMs = 20
const stopMs = 5000
const logLines = 12

export function startChild(options: ChildOptions): Child {
  const running: Running = Bun.spawn([...withManyFiles, ...options.command], {
    cwd: options.cwd,
    env: options.env ?? Bun.env,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: Bun.file(options.logFile),
  })
  const lines = linesOf(running)
  return {
    pid: running.pid,
    send(line) {
      running.stdin.write(`${line}\n`)
      running.stdin.flush()
    },
    waitForLine: (pattern, timeoutMs) =>
      before(running, options, timeoutMs, async () => {
        for (;;) {
          const { value, done } = await lines.next()
          if (done) return await new Promise<never>(() => {})
          const match = pattern.exec(value)
          if (match !== null) return match[1] ?? match[0]
        }
      }),
    waitUntil: (ready, timeoutMs) =>
      before(running, options, timeoutMs, async () => {
        while (!hasEnded(running) && !(await ready())) await Bun.sleep(pollMs)
        if (hasEnded(running)) await new Promise<never>(() => {})
      }),
    exitReport: () => (hasEnded(running) ? describeExit(options, ending(running)) : undefined),
    stop: () => stop(running),
  }
}

async function* linesOf(running: Running): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of running.stdout) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

/** What `work` gives, unless the process ends or the time is over before. */
async function before<T>(
  running: Running,
  options: ChildOptions,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(late.resolve, timeoutMs, `was not ready in ${timeoutMs / 1000} s`)
  const ended = running.exited.then(() => ending(running))
  const outcome = await Promise.race([
    work().then((value) => ({ value })),
    Promise.race([late.promise, ended]).then((why) => ({ why })),
  ])
  clearTimeout(timer)
  if ('value' in outcome) return outcome.value
  throw new Error(describeExit(options, outcome.why))
}

function hasEnded(running: Running): boolean {
  return running.exitCode !== null || running.signalCode !== null
}

/** A signal means that a user or the kernel ended it; an exit code, that it ended itself. */
function ending(running: Running): string {
  if (running.signalCode !== null) return `was ended by ${running.signalCode}`
  return `ended with exit code ${running.exitCode}`
}

function describeExit(options: ChildOptions, why: string): string {
  const log = readFileSync(options.logFile, 'utf8').trim().split('\n').slice(-logLines).join('\n')
  return `${options.name} ${why} (${options.command.join(' ')})\n${log}`
}

async function stop(running: Running): Promise<void> {
  running.kill('SIGTERM')
  const timer = setTimeout(() => running.kill('SIGKILL'), stopMs)
  await running.exited
  clearTimeout(timer)
}
