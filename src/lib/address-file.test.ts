import { afterAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAddress, removeAddress, writeAddress } from './address-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'gateway-address-'))
const file = join(dir, 'address')
afterAll(() => rmSync(dir, { recursive: true }))

test('an address is left for the owner alone, and taken away by its writer only', () => {
  expect(readAddress(dir)).toBeUndefined()
  writeAddress(dir, 'http://localhost:8081')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readAddress(dir)).toBe('http://localhost:8081')
  removeAddress(dir, 'http://localhost:8080')
  expect(readAddress(dir)).toBe('http://localhost:8081')
  removeAddress(dir, 'http://localhost:8081')
  expect(readAddress(dir)).toBeUndefined()
})

test('a file that others can read, or that holds something else, is no address', () => {
  writeFileSync(file, 'http://evil.example\n')
  chmodSync(file, 0o644)
  expect(readAddress(dir)).toBeUndefined()
  chmodSync(file, 0o600)
  for (const text of ['', 'nowhere', 'file:///etc/passwd', 'https://evil.example']) {
    writeFileSync(file, text)
    expect([text, readAddress(dir)]).toEqual([text, undefined])
  }
})

test('a directory that cannot be written to is no failure', () => {
  const none = join(dir, 'none')
  writeAddress(none, 'http://localhost:8080')
  removeAddress(none, 'http://localhost:8080')
  expect(readAddress(none)).toBeUndefined()
})
