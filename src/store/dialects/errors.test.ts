import { expect, test } from 'bun:test'
import { DatabaseError, isBusy, StoreBusy } from './errors.ts'

const coded = (code: string) => new DatabaseError(code, 'as the database says')

test.each([
  ['what waits here', new StoreBusy('waits')],
  ['no free connection', coded('53300')],
  ['a server that is starting', coded('57P03')],
  ['a statement that took too long', coded('57014')],
  ['a lock', coded('55P03')],
  ['a deadlock', coded('40P01')],
  ['a refused connection', coded('ECONNREFUSED')],
  ['a connection that was not made in time', new Error('timeout expired')],
  ['a pool without a free one', new Error('timeout exceeded when trying to connect')],
  ['a connection that broke', new Error('Connection terminated unexpectedly')],
])('%s can be tried again', (_, error) => {
  expect(isBusy(error)).toBe(true)
})

test.each([
  ['a unique name', coded('23505')],
  ['a wrong statement', coded('42703')],
  ['a damaged file', coded('SQLITE_CORRUPT')],
  ['a file that is not there', coded('ENOENT')],
  ['a defect', new TypeError('undefined is not an object')],
  ['nothing', undefined],
])('%s cannot', (_, error) => {
  expect(isBusy(error)).toBe(false)
})
