// Fields for date and time show the clock of the chosen zone, and give back the same moment.
import { expect, test } from 'bun:test'
import { fromWallClock, wallClock, zoneText } from './time-zone.ts'

test('a moment by the clock of a zone, and back', () => {
  const moment = '2026-11-16T21:30:05.000Z'
  expect(wallClock(moment, 'Asia/Shanghai')).toBe('2026-11-17T05:30:05')
  expect(wallClock(moment, 'America/New_York')).toBe('2026-11-16T16:30:05')
  for (const zone of ['UTC', 'Asia/Shanghai', 'Asia/Kolkata', 'America/New_York']) {
    expect(fromWallClock(wallClock(moment, zone), zone)).toBe(moment)
  }
  expect([wallClock('x', 'UTC'), fromWallClock('', 'UTC')]).toEqual(['', ''])
})

test('a clock that is put forward or back keeps its moments', () => {
  for (const moment of ['2026-03-29T00:59:59.000Z', '2026-03-29T01:00:00.000Z']) {
    expect(fromWallClock(wallClock(moment, 'Europe/Berlin'), 'Europe/Berlin')).toBe(moment)
  }
  const skipped = fromWallClock('2026-03-29T02:30:00', 'Europe/Berlin')
  expect(Math.abs(Date.parse(skipped) - Date.parse('2026-03-29T01:00:00Z'))).toBeLessThan(3_600_000)
})

test('a zone is named with its distance from UTC', () => {
  const atMs = Date.parse('2026-11-16T00:00:00Z')
  expect(
    ['UTC', 'Asia/Shanghai', 'Asia/Kolkata', 'America/New_York'].map((z) => zoneText(z, atMs)),
  ).toEqual(['UTC', 'Asia/Shanghai (UTC+8)', 'Asia/Kolkata (UTC+5:30)', 'America/New_York (UTC−5)'])
})
