// Loaded into the measured gateway before its own code: notes the turns of the event loop of its main thread
// that took long, with the CPU time that the thread itself used. A turn that is long without it had to wait for
// the machine. Writes a line of JSON for each to the file that BENCH_TURNS names.

import { appendFileSync } from 'node:fs'

export interface LongTurn {
  atMs: number
  ms: number
  cpuMs: number
}

const everyMs = 2
const longMs = 8
const file = process.env['BENCH_TURNS']

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function watch(path: string): void {
  let [lastMs, lastCpuMs] = [performance.now(), cpuMs()]
  const timer = setInterval(() => {
    const [nowMs, nowCpuMs] = [performance.now(), cpuMs()]
    const turn: LongTurn = {
      atMs: Date.now(),
      ms: nowMs - lastMs - everyMs,
      cpuMs: nowCpuMs - lastCpuMs,
    }
    if (turn.ms >= longMs) appendFileSync(path, `${JSON.stringify(turn)}\n`)
    ;[lastMs, lastCpuMs] = [performance.now(), cpuMs()]
  }, everyMs)
  timer.unref()
}

if (file !== undefined && Bun.isMainThread) watch(file)
