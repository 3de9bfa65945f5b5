// Base64 in every way tools write it, short and longer than one stretch.
import { expect, test } from 'bun:test'
import { bytesBetween, plainBase64 } from './base64.ts'

const sizes = [1, 2, 3, 100, 60_000, 60_001, 786_431, 786_432, 786_433, 2_000_000, 2_000_001]
const broken = (text: string, by: string) => text.replaceAll(/(.{76})/g, `$1${by}`)

test.each(sizes)('the base64 of %d bytes is itself, with and without its padding', (size) => {
  const text = Buffer.alloc(size, 'model gateway').toString('base64')
  const unpadded = text.replace(/=+$/, '')
  expect(plainBase64(text)).toBe(text)
  expect(plainBase64(unpadded)).toBe(unpadded)
})

test.each(sizes)('blanks and line ends go from the base64 of %d bytes', (size) => {
  const text = Buffer.alloc(size, 'model gateway').toString('base64')
  const unpadded = text.replace(/=+$/, '')
  const middle = Math.floor(text.length / 2)
  for (const given of [
    `${broken(text, '\n')}\n`,
    ` ${broken(unpadded, '\r\n')}\t`,
    `${text.slice(0, middle)} ${text.slice(middle)}`,
    `${text}${' '.repeat(1_200_000)}`,
    `${' '.repeat(70_000)}${text}`,
  ]) {
    const plain = plainBase64(given)
    expect(plain?.replace(/=+$/, '') === unpadded).toBe(true)
  }
})

test('what is no base64 is none', () => {
  for (const size of [3, 60_000, 786_432, 2_000_000]) {
    const text = Buffer.alloc(size, 'x').toString('base64')
    for (const given of [`${text}!`, `-${text}`, `${text}==\n${text}`, `${text}AA==${text}`]) {
      expect(plainBase64(given)).toBeUndefined()
    }
  }
  expect(plainBase64('')).toBeUndefined()
  expect(plainBase64(' '.repeat(100_000))).toBeUndefined()
})

test.each(sizes)('%d bytes are put between texts', (size) => {
  const bytes = Buffer.alloc(size, 'model gateway')
  const text = bytes.toString('base64')
  const parts = [
    { text, from: 0 },
    { text: `data:,${broken(text, '\n')}`, from: 6 },
  ]
  const wanted = Buffer.concat(['é', bytes, '', bytes, 'end'].map((each) => Buffer.from(each)))
  expect(wanted.equals(bytesBetween(['é', '', 'end'], parts)!)).toBe(true)
})

test('bytes that are no base64 are put nowhere', () => {
  for (const text of ['', 'AAAA!', 'data:,AAAA']) {
    expect(bytesBetween(['a', 'b'], [{ text, from: 0 }])).toBeUndefined()
  }
})
