// What the thread reads and writes is what the same functions give without it.
import { expect, test } from 'bun:test'
import { soundOf } from '../../../sandbox/audio/encode.ts'
import { audioSeconds } from '../audio/measure.ts'
import {
  addMemberLong,
  base64Bytes,
  encodeLong,
  measureLong,
  plainBase64After,
  readLong,
  stringifyLong,
  toBase64,
} from './json-thread.ts'

const work = { total: 1e9, structure: 1e9 }
const megabyte = 1024 * 1024
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const read = (text: string) => readLong(bytesOf(text), 64, work)

test.each([
  ['plain letters', 'abc'.repeat(megabyte)],
  ['wide letters', '你好😀'.repeat(megabyte / 8)],
  ['escapes', JSON.stringify('a "line"\n'.repeat(megabyte / 8)).slice(1, -1)],
])('a long text with %s is read', async (_, letters) => {
  const text = `{"a":[{"b":"${letters}"}],"c":1}`
  const given = await read(text)
  // Comparing by equality alone: a message with all of it would take minutes.
  expect(given.text === text).toBe(true)
  expect('value' in given && Bun.deepEquals(given.value, JSON.parse(text))).toBe(true)
})

test('several texts at once are read in turn, each for its caller', async () => {
  const texts = Array.from({ length: 5 }, (_, at) => `{"at":${at},"x":"${'y'.repeat(megabyte)}"}`)
  const given = await Promise.all(texts.map(read))
  const values = given.map((each) => ('value' in each ? (each.value as { at: number }).at : -1))
  expect(values).toEqual([0, 1, 2, 3, 4])
})

test('a text that is not JSON is an error, one that breaks a rule a problem', async () => {
  const long = 'x'.repeat(megabyte)
  expect(await read(`{"a":"${long}\n"}`)).toHaveProperty('error')
  expect(await read(`{"a":"${long}"} and more`)).toHaveProperty('error')
  expect(await read(`{"a":1,"b":"${long}","a":2}`)).toMatchObject({
    problem: { kind: 'key_twice', path: 'a' },
  })
  const little = await readLong(bytesOf(`{"a":"${long}"}`), 64, { total: 10, structure: 10 })
  expect(little).toMatchObject({ problem: { kind: 'too_much_work' } })
})

test('bytes that are no UTF-8 become replacement characters', async () => {
  const bytes = bytesOf(`{"a":"${'x'.repeat(megabyte)}??"}`)
  bytes.fill(0xff, megabyte + 6, megabyte + 8)
  const given = await readLong(bytes, 64, work)
  expect(given.text.slice(-4)).toBe('��"}')
})

test('fields are set in a text that is encoded', async () => {
  const long = '你'.repeat(megabyte)
  const text = `{"model":"a", "x": 1.0,"messages":"${long}"}`
  const fields = { model: '"b"', stream_options: '{"include_usage":true}' }
  const bytes = await encodeLong(text, fields)
  const expected = `{"stream_options":{"include_usage":true},"model":"b", "x": 1.0,"messages":"${long}"}`
  expect(Buffer.from(bytes).toString() === expected).toBe(true)
  const same = await encodeLong(text, { model: '"a"' })
  expect(Buffer.from(same).toString() === text).toBe(true)
})

test('a value with long strings is encoded as JSON.stringify would', async () => {
  const long = `"\\\n\ud800${'é'.repeat(megabyte)}`
  const value = { a: [long, 'long:0', { b: long, c: undefined }], d: null, [`k"`]: 'short', e: 1.5 }
  const bytes = await stringifyLong(value)
  expect(Buffer.from(bytes as Uint8Array).toString() === JSON.stringify(value)).toBe(true)
  expect(await stringifyLong({ a: 'short' })).toBe('{"a":"short"}')
})

test('a file of sound is measured there as it is here, and stays whole', async () => {
  const { bytes } = soundOf('wav', 5)
  expect(await measureLong(bytes)).toBe(audioSeconds(bytes))
  expect(bytes.length).toBeGreaterThan(0)
  expect(await measureLong(Buffer.from('no sound'))).toBeUndefined()
})

test.each([
  ['bytes', (text: string) => Buffer.from(text)],
  ['a text', (text: string) => text],
])('a member is put into JSON given as %s, which stays as it is', async (_, as) => {
  const text = `{"data":"${'é'.repeat(megabyte)}","usage":{"a":1.0}}`
  const given = as(text)
  const bytes = await addMemberLong(given, ['usage'], '"note":2')
  expect(Buffer.from(bytes).toString() === text.replace('{"a"', '{"note":2,"a"')).toBe(true)
  expect(given.toString() === text).toBe(true)
})

test.each([10, 3_000_000])('Base64 of %d bytes is checked, decoded and written', async (length) => {
  const bytes = new Uint8Array(Buffer.alloc(length, 'a file'))
  const text = Buffer.from(bytes).toString('base64')
  const url = `data:image/png;base64,${text.slice(0, 4)}\n${text.slice(4)}`
  const from = url.indexOf(',') + 1
  expect((await plainBase64After('', url, from)) === text).toBe(true)
  expect((await plainBase64After('data:,', text)) === `data:,${text}`).toBe(true)
  expect(await plainBase64After('', `${text}?`)).toBeUndefined()
  expect(Bun.deepEquals(Buffer.from((await base64Bytes(url, from))!), Buffer.from(bytes))).toBe(
    true,
  )
  expect(await base64Bytes(`${text}?`)).toBeUndefined()
  const part = new Uint8Array(Buffer.from(`ab${'c'.repeat(length)}`)).subarray(2)
  expect((await toBase64(part)) === 'c'.repeat(length).replace(/.*/s, btoa)).toBe(true)
  expect(part.length).toBe(length)
})
