// Loaded before a test run that tries a fault (scripts/mutate.ts): the file that has it is read with it.
import { readFileSync } from 'node:fs'
import { plugin } from 'bun'
import { type Mutant, withMutant } from './mutants.ts'

const { path, ...mutant } = JSON.parse(process.env['TEST_MUTANT']!) as Mutant & { path: string }
const named = new RegExp(`${path.replaceAll(/[.\\/]/g, '\\$&')}$`)

plugin({
  name: 'mutant',
  setup(build) {
    build.onLoad({ filter: named }, (file) => ({
      contents: withMutant(readFileSync(file.path, 'utf8'), mutant),
      loader: 'ts',
    }))
  },
})
