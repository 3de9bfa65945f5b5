// Makes the database that a whole run copies for its tests: `bun test/support/empty-database.ts DIR`.
import { mkdirSync } from 'node:fs'
import { makeEmptyDatabase } from '../../src/store/test-stores.ts'

const dataDir = process.argv[2]!
mkdirSync(dataDir, { recursive: true })
await makeEmptyDatabase(dataDir)
