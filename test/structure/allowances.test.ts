// Allowances only go down: one that is larger than the tree needs has to be lowered.
import { expect, test } from 'bun:test'
import allowances from './allowances.json'
import { excess, measure, tightened } from './measure.ts'
import { maxComponentLines, maxFileLines, maxFilesPerFolder, maxFunctionLines } from './sizes.ts'
import { read } from './sources.ts'

test('no allowance is larger than needed; scripts/bun test/structure/tighten.ts lowers them', () => {
  expect(tightened(measure(), allowances)).toEqual(allowances)
})

test('an allowance that is exceeded is reported with the offenders, and tightening keeps it', () => {
  const measures = { sizes: { src: ['a', 'b'], console: ['c'] } }
  const given = { sizes: { src: 1, console: 3, sandbox: 2 } }
  expect(excess(measures, given)).toEqual(['sizes, src: 2, and 1 are allowed:', '  a', '  b'])
  expect(tightened(measures, given)).toEqual({ sizes: { src: 1, console: 1 } })
})

test('the limits are those that CONTRIBUTING.md states', () => {
  const text = read('CONTRIBUTING.md').replace(/\s+/g, ' ')
  expect(text).toContain(
    `Files have at most ${maxFileLines} lines, functions ${maxFunctionLines}, components of the console ` +
      `${maxComponentLines}, folders ${maxFilesPerFolder} production files.`,
  )
})
