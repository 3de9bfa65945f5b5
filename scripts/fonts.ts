// Makes the fonts that the gateway ships, from the packages of the registry: `bun scripts/fonts.ts`. Only the
// weights, characters and features that the console and the documentation use are kept.
import { join } from 'node:path'
import subsetFont from 'subset-font'

const root = join(import.meta.dir, '..')
const packages = join(root, 'node_modules/@fontsource-variable')

/** Characters of a `unicode-range`. */
const charactersIn = (ranges: readonly (readonly [first: number, last: number])[]): string =>
  ranges
    .flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i)),
    )
    .join('')

const latin = charactersIn([
  [0x20, 0x7e],
  [0xa0, 0xff],
  [0x131, 0x131],
  [0x152, 0x153],
  [0x2c6, 0x2c6],
  [0x2da, 0x2da],
  [0x2dc, 0x2dc],
  [0x2000, 0x206f],
  [0x20ac, 0x20ac],
  [0x2122, 0x2122],
  [0x2190, 0x2193],
  [0x2212, 0x2215],
])
const latinExtended = charactersIn([
  [0x100, 0x17f],
  [0x18f, 0x192],
  [0x1a0, 0x1b0],
  [0x1cd, 0x1dc],
  [0x1e6, 0x21b],
  [0x1e00, 0x1eff],
  [0x20a0, 0x20c0],
])

const fonts = [
  { name: 'geist', from: 'geist/files/geist-latin-wght-normal', characters: latin, max: 600 },
  {
    name: 'geist-ext',
    from: 'geist/files/geist-latin-ext-wght-normal',
    characters: latinExtended,
    max: 600,
  },
  {
    name: 'geist-mono',
    from: 'geist-mono/files/geist-mono-latin-wght-normal',
    characters: latin,
    max: 400,
  },
] as const

for (const { name, from, characters, max } of fonts) {
  const whole = Buffer.from(await Bun.file(join(packages, `${from}.woff2`)).arrayBuffer())
  const options = {
    targetFormat: 'woff2',
    keepFeatures: ['kern', 'tnum', 'locl', 'ccmp', 'mark'],
    variationAxes: { wght: max === 400 ? 400 : { min: 400, max } },
  } as const
  const subset = await subsetFont(whole, characters, options)
  await Bun.write(join(root, `console/fonts/${name}.woff2`), subset)
  console.log(`${name}: ${subset.length} bytes`)
}
const licence = await Bun.file(join(packages, 'geist/LICENSE')).text()
await Bun.write(join(root, 'console/fonts/OFL.txt'), licence)
