import { expect, test } from 'bun:test'
import { barPeriod } from './period.ts'

const range = { from: '2026-11-10T17:00:00.000Z', to: '2026-11-17T17:00:00.000Z' }

test('a bar is its hour or day, as far as the range has it', () => {
  const of = (at: string, step: 'hour' | 'day') => barPeriod(Date.parse(at), step, range)
  expect(of('2026-11-12T00:00:00Z', 'day')).toEqual({
    from: '2026-11-12T00:00:00.000Z',
    to: '2026-11-13T00:00:00.000Z',
  })
  expect(of('2026-11-10T00:00:00Z', 'day').from).toBe(range.from)
  expect(of('2026-11-17T00:00:00Z', 'day').to).toBe(range.to)
  expect(of('2026-11-17T03:00:00Z', 'hour').to).toBe('2026-11-17T04:00:00.000Z')
})
