// Loaded before the tests of a whole run: stores that a test opens by itself have their database thread
// from the build. From source, each thread would be translated anew, for longer than it then works.
import { join } from 'node:path'
import { assets } from '../../src/lib/assets.ts'

const built = process.env['TEST_BUILD']
if (built === undefined) throw new Error('there is no build to take the thread from')
assets.databaseThread = join(built, 'database-thread.js')
assets.importThread = join(built, 'import-thread.js')
assets.jsonThread = join(built, 'json-thread.js')
assets.translationThread = join(built, 'translation-thread.js')
