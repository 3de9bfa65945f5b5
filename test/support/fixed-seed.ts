// Loaded before the tests of every run: properties draw their values from the seed of the run.
import fc from 'fast-check'
import { testSeed } from './seeded.ts'

fc.configureGlobal({ seed: testSeed() })
