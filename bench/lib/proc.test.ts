import { expect, test } from 'bun:test'
import {
  cpuMicros,
  hasProc,
  maxOpenFiles,
  memory,
  parseCpuMicros,
  parseMaxOpenFiles,
  parseMemory,
  parsePids,
} from './proc.ts'

const fields = 'S 1 42 42 0 -1 4194560 100 0 0 0 123 45 7 8 20 0 12 0 5000 900 300'

test('CPU time is user plus system time, without that of children', () => {
  expect(parseCpuMicros(`42 (bun) ${fields}`)).toBe(1_680_000)
})

test('a command with spaces and brackets does not shift the fields', () => {
  expect(parseCpuMicros(`42 (nginx: worker) 9 (x) ${fields}`)).toBe(1_680_000)
})

test('text that is no stat line is refused', () => {
  expect(() => parseCpuMicros('42 (bun) S 1')).toThrow('not a /proc stat line')
})

test('memory now and at its peak are read in bytes', () => {
  const status = 'Name:\tbun\nVmPeak:\t  900 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n'
  expect(parseMemory(status)).toEqual({ rssBytes: 1_048_576, peakBytes: 2_097_152 })
  expect(() => parseMemory('Name:\tkthread\n')).toThrow('VmRSS')
})

test('a list of children may be empty', () => {
  expect(parsePids('12 345 \n')).toEqual([12, 345])
  expect(parsePids('')).toEqual([])
})

test('the hard limit of open files is the second number, and may be none', () => {
  const limits = (hard: string) => `Limit  Soft  Hard\nMax open files   1024   ${hard}   files\n`
  expect(parseMaxOpenFiles(limits('20000'))).toBe(20_000)
  expect(parseMaxOpenFiles(limits('unlimited'))).toBe(Number.POSITIVE_INFINITY)
  expect(() => parseMaxOpenFiles('')).toThrow('open files')
})

if (hasProc()) {
  test('a running process has used CPU and memory', () => {
    expect(memory([process.pid]).rssBytes).toBeGreaterThan(1_000_000)
    expect(memory([process.pid, process.pid]).peakBytes).toBeGreaterThan(2_000_000)
    expect(cpuMicros([])).toBe(0)
    expect(maxOpenFiles()).toBeGreaterThan(0)
    expect(cpuMicros([process.pid])).toBeGreaterThanOrEqual(0)
  })
}
