// A directory that looks like a clone, for examples that leave files behind: everything in it is the
// repository's, but for the data, which are those of a gateway under test.
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tempDir } from '../gateway.ts'

/** npx takes longer than the command it finds; that it finds it is seen by the tests of the README. */
const npx = `#!/bin/sh
[ "$1" = gateway ] || exec ${Bun.which('npx')} "$@"
shift
exec ${join(root, 'bin/gateway')} "$@"
`

export function workspace(dataDir: string): string {
  const dir = tempDir()
  for (const name of readdirSync(root)) {
    if (name !== 'data') symlinkSync(join(root, name), join(dir, name))
  }
  symlinkSync(dataDir, join(dir, 'data'))
  mkdirSync(programsIn(dir))
  writeFileSync(join(programsIn(dir), 'npx'), npx)
  chmodSync(join(programsIn(dir), 'npx'), 0o755)
  return dir
}

/** To be looked at first for programs. */
export const programsIn = (dir: string): string => join(dir, 'quicker')
