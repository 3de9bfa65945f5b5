// Makes a database with its tables and nothing in them: `bun test/support/empty-database.ts DIR`.
import { mkdirSync } from 'node:fs'
import { openStore } from '../../src/store/index.ts'

const dataDir = process.argv[2]!
mkdirSync(dataDir, { recursive: true })
await (await openStore({ dataDir })).close()
