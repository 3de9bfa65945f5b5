import { describe, expect, test } from 'bun:test'
import { createLog, type LogFields, logFields } from './log.ts'

function newLog(options: { pretty?: boolean; clean?: (text: string) => string } = {}) {
  const lines: string[] = []
  const log = createLog({
    level: 'info',
    pretty: false,
    write: (line) => lines.push(line),
    ...options,
  })
  return { log, lines }
}

const strange = (fields: object) => fields as LogFields

describe('a line', () => {
  test('is one JSON object', () => {
    const { log, lines } = newLog()
    log.info('it happened', { request_id: 'req_1', status: 502, code: undefined })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toEndWith('\n')
    const { time, ...rest } = JSON.parse(lines[0]!)
    expect(rest).toEqual({ level: 'info', msg: 'it happened', request_id: 'req_1', status: 502 })
    expect(new Date(time).toISOString()).toBe(time)
  })

  test('has no field that is not on the list', () => {
    const { log, lines } = newLog()
    log.info('x', strange({ authorization: 'secret', body: 'prompt', model: 'm', headers: {} }))
    expect(lines.join('')).not.toMatch(/secret|prompt|authorization|body|headers/)
    expect(JSON.parse(lines[0]!).model).toBe('m')
  })

  test('can have every field of the list, and those are all there are', () => {
    const { log, lines } = newLog()
    log.info('x', Object.fromEntries(logFields.map((name) => [name, 1])))
    expect(Object.keys(JSON.parse(lines[0]!))).toEqual(['time', 'level', 'msg', ...logFields])
  })

  test('takes nothing apart: what has parts is a word only', () => {
    const { log, lines } = newLog()
    log.info('x', { cause: { prompt: 'secret' }, error: new Error('broke') })
    const { cause, error } = JSON.parse(lines[0]!)
    expect(cause).toBe('[object Object]')
    expect(error).toContain('broke')
  })

  test('is bounded, whatever is handed over', () => {
    const { log, lines } = newLog()
    log.info('x', { reason: 'y'.repeat(1_000_000) })
    expect(lines[0]!.length).toBeLessThan(10_000)
  })

  test('stays one line when a text has several', () => {
    const { log, lines } = newLog()
    log.info('x', { reason: 'a\nb\r\nc' })
    expect(lines[0]!.split('\n')).toHaveLength(2)
  })

  test('is cleaned before it is written, also for a terminal', () => {
    for (const pretty of [false, true]) {
      const { log, lines } = newLog({ pretty, clean: (text) => text.replaceAll('hush', '…') })
      log.warn('hush', { reason: 'hush' })
      expect(lines.join('')).not.toContain('hush')
    }
  })

  test('below the level is neither written nor counted', () => {
    const { log, lines } = newLog()
    log.debug('x')
    log.error('y')
    expect(lines).toHaveLength(1)
    expect(log.lines).toEqual({ debug: 0, info: 0, warn: 0, error: 1 })
  })
})
