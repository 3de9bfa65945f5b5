import { expect, test } from 'bun:test'
import { hasDot } from './bitmap-font.ts'
import { drawImage } from './image.ts'
import { differingShare, readPng } from './test-png.ts'

const image = { width: 1024, height: 768, seed: '3f9c2a71b0', index: 0 }
const source = { count: 2, mark: '1a5bac', fidelity: 70 }

test('an image is a sound PNG file of the size asked for', () => {
  const sizes: [number, number][] = [
    [1024, 1024],
    [1360, 768],
    [16, 16],
    [17, 4096],
    [8192, 16],
  ]
  for (const [width, height] of sizes) {
    for (const more of [{}, { source }]) {
      const png = readPng(drawImage({ ...image, width, height, ...more }))
      expect([png.width, png.height]).toEqual([width, height])
      expect(png.chunks).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND'])
    }
  }
})

test('the same image has the same bytes', () => {
  expect(drawImage({ ...image, source })).toEqual(drawImage({ ...image, source }))
})

test('two seeds, and two places in a row, are seen to differ', () => {
  const one = readPng(drawImage(image))
  const seeded = readPng(drawImage({ ...image, seed: '3f9c2a71b1' }))
  const next = readPng(drawImage({ ...image, index: 1 }))
  expect(differingShare(one, seeded)).toBeGreaterThan(0.5)
  expect(differingShare(one, next)).toBeGreaterThan(0.5)
  expect(differingShare(one, readPng(drawImage(image)))).toBe(0)
})

test('the seed and the place stand written at the top', () => {
  const png = readPng(drawImage({ ...image, index: 4 }))
  const dot = 8
  const black = [24, 24, 27]
  for (const [place, letter] of [...'3f9c2a #4'].entries()) {
    for (let x = 0; x < 5; x++) {
      for (let y = 0; y < 7; y++) {
        const across = 3 * dot + place * 6 * dot + x * dot
        const isBlack = String(png.at(across + 1, (3 + y) * dot + 1)) === String(black)
        expect([letter, x, y, isBlack]).toEqual([letter, x, y, hasDot(letter, x, y)])
      }
    }
  }
})

test('what it was made from is seen, and how much of it', () => {
  const bare = readPng(drawImage(image))
  const made = (more: object) => readPng(drawImage({ ...image, source: { ...source, ...more } }))
  const usual = made({})
  expect(differingShare(bare, usual)).toBeGreaterThan(0.02)
  // The rest of the image is as it was.
  expect(differingShare(bare, usual)).toBeLessThan(0.4)
  for (const other of [{ mark: '1a5bad' }, { fidelity: 20 }, { count: 3 }]) {
    expect(differingShare(usual, made(other), 3)).toBeGreaterThan(0)
  }
  const markColour = String([0x1a, 0x5b, 0xac])
  const barOf = (png: ReturnType<typeof made>) =>
    Array.from({ length: png.width }, (_, x) => png.at(x, 680)).filter(
      (colour) => String(colour) === markColour,
    ).length
  expect(barOf(made({ fidelity: 100 }))).toBeGreaterThan(barOf(usual))
  expect(barOf(usual)).toBeGreaterThan(barOf(made({ fidelity: 0 })))
})

test('a large image is small as a file', () => {
  const bytes = drawImage({ ...image, width: 4096, height: 4096 })
  expect(bytes.length).toBeLessThan(500_000)
})
