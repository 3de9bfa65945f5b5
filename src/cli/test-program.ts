// For tests: the command line as a program. A whole run has it built; from source it is translated at every start.
import { join } from 'node:path'

const built = process.env['MODEL_GATEWAY_DIST'] ?? ''

export const program: readonly string[] =
  built === '' ? [process.execPath, join(import.meta.dir, 'main.ts')] : [built]
