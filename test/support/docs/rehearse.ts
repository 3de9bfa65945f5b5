// Commands that cannot be run here, for they need another machine or many minutes, are rehearsed: the
// shell runs them, with stand-ins in the place of the programs that write down what they are told.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempDir } from '../gateway.ts'
import { ownEnv } from '../own-env.ts'

/** A command as it was given: its words, the program's name first. */
export type Told = readonly string[]

const programs = ['npm', 'npx', 'docker', 'kubectl', 'helm']
/** Of the repository, named by their paths. */
const scripts = ['.ci/run', 'scripts/services', 'scripts/package']

const standIn = (more: string): string => `#!/bin/sh
{ printf '%s' "\${0#"$STAND_INS/"}"; printf '\\t%s' "$@"; echo; } >>"$REHEARSAL"
${more}
`

/** Where a program can say what it would do, it is asked: wrong flags are found then. */
const asked: Readonly<Record<string, string>> = {
  kubectl: 'exec @real "$@" --dry-run=client -o name',
}

function makeStandIn(folder: string, name: string): void {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  const real = Bun.which(name)
  const more = real === null ? '' : (asked[name]?.replace('@real', real) ?? '')
  writeFileSync(path, standIn(more))
  chmodSync(path, 0o755)
}

/** Runs the text in a folder of its own; gives what the programs were told. */
export function rehearse(text: string): { code: number; said: string; told: Told[] } {
  const folder = tempDir()
  const record = join(folder, 'told')
  writeFileSync(record, '')
  for (const name of [...programs, ...scripts]) makeStandIn(folder, name)
  const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-eu', '-c', text], {
    cwd: folder,
    env: { PATH: `${folder}:${ownEnv['PATH']}`, REHEARSAL: record, STAND_INS: folder },
  })
  const told = readFileSync(record, 'utf8').trimEnd().split('\n')
  return {
    code: exitCode,
    said: `${stdout}${stderr}`,
    told: told.map((line) => line.replace(/^\.\//, '').split('\t').filter(Boolean)),
  }
}
