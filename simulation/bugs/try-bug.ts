// Puts a bug into a copy of the sources and simulates that, until it is found or the seeds are used up.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Bug } from './bug.ts'

const root = resolve(import.meta.dir, '../..')

interface Tried {
  name: string
  /** Undefined when it was not found. */
  foundBySeed: number | undefined
  /** The violation that found it, or the problem. */
  what: string
}

/** The known worlds of the bug first, unless another start is given. One at a time. */
export async function tryBug(
  bug: Bug,
  { seeds, from }: { seeds: number; from?: number | undefined },
): Promise<Tried> {
  const copy = copyOfSources()
  try {
    const problem = putInto(copy, bug)
    if (problem !== undefined) return { name: bug.name, foundBySeed: undefined, what: problem }
    const { gateways, parts = 'none', seeds: known } = bug.known
    const shape = gateways === undefined ? [] : ['--gateways', `${gateways}`]
    const first = from === undefined && known.length > 0 ? ['--first', known.join(',')] : []
    const args = ['--seeds', `${seeds}`, '--from', `${from ?? 1}`, '--parts', parts, ...first]
    const child = Bun.spawn(
      [process.execPath, join(copy, 'simulation/main.ts'), ...args, ...shape],
      {
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
    await child.exited
    const [, found, what] = /^seed (\d+) digest \w+ FAILED\n\s*(.{0,160})/m.exec(out) ?? []
    return {
      name: bug.name,
      foundBySeed: found === undefined ? undefined : Number(found),
      what: what ?? (err.slice(-300) || 'no violation'),
    }
  } finally {
    for (const { file } of bug.edits) cpSync(join(root, file), join(copy, file))
  }
}

let made: string | undefined

export function removeCopy(): void {
  if (made !== undefined) rmSync(made, { recursive: true, force: true })
  made = undefined
}

/** Made once: copying takes longer than most bugs. */
function copyOfSources(): string {
  if (made !== undefined) return made
  const copy = mkdtempSync(join(tmpdir(), 'simulation-'))
  made = copy
  for (const part of ['src', 'simulation', 'package.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(copy, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Applies the edits; gives the problem when one does not fit. */
function putInto(copy: string, bug: Bug): string | undefined {
  for (const { file, find, replace } of bug.edits) {
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    if (text.split(find).length !== 2) return `${file} has not just one: ${find}`
    writeFileSync(
      path,
      text.replace(find, () => replace),
    )
  }
  return undefined
}
