// Reads from /proc what a process has cost: CPU time of all its threads, and memory.
// Refuses to know which process it is.

import { existsSync, readFileSync } from 'node:fs'

/** USER_HZ is 100 on every Linux that Bun runs on: one tick is 10 ms. */
const microsPerTick = 10_000

interface Memory {
  rssBytes: number
  peakBytes: number
}

/** User and system time from the text of /proc/PID/stat. The command in it may hold anything. */
export function parseCpuMicros(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  if (!Number.isFinite(ticks)) throw new Error(`not a /proc stat line: ${stat.slice(0, 60)}`)
  return ticks * microsPerTick
}

/** VmRSS and VmHWM from the text of /proc/PID/status. */
export function parseMemory(status: string): Memory {
  const bytes = (name: string) => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)
    if (found === null) throw new Error(`no ${name} in /proc status`)
    return Number(found[1]) * 1024
  }
  return { rssBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') }
}

export function parsePids(children: string): number[] {
  return children
    .split(' ')
    .filter((text) => text.trim() !== '')
    .map(Number)
}

/** The hard limit of open files from the text of /proc/PID/limits. */
export function parseMaxOpenFiles(limits: string): number {
  const found = /^Max open files +\S+ +(\S+)/m.exec(limits)?.[1]
  if (found === undefined) throw new Error('no open files in /proc limits')
  return found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found)
}

export const maxOpenFiles = (): number =>
  parseMaxOpenFiles(readFileSync('/proc/self/limits', 'utf8'))

export function hasProc(): boolean {
  return existsSync('/proc/self/stat')
}

export function childrenOf(pid: number): number[] {
  return parsePids(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
}

/** A process and all that it has started, directly or not. */
export function treeOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)]
}

export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + parseCpuMicros(readText(pid, 'stat')), 0)
}

/** Pages shared by several processes count once for each. */
export function memory(pids: readonly number[]): Memory {
  const sum = { rssBytes: 0, peakBytes: 0 }
  for (const pid of pids) {
    const one = parseMemory(readText(pid, 'status'))
    sum.rssBytes += one.rssBytes
    sum.peakBytes += one.peakBytes
  }
  return sum
}

function readText(pid: number, name: string): string {
  return readFileSync(`/proc/${pid}/${name}`, 'utf8')
}
