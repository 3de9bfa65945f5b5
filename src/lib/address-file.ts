// The file in which a running program leaves its address for commands of the same user.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileName = 'address'
const ownerOnly = 0o600
const others = 0o077

/** Without it, commands need to be told the address: no reason not to run. */
export function writeAddress(dir: string, address: string): void {
  try {
    rmSync(join(dir, fileName), { force: true })
    writeFileSync(join(dir, fileName), `${address}\n`, { mode: ownerOnly })
  } catch {
    // A directory that cannot be written to.
  }
}

/** Not the one that another program has left there since. */
export function removeAddress(dir: string, address: string): void {
  try {
    if (readAddress(dir) === address) rmSync(join(dir, fileName), { force: true })
  } catch {
    // The same.
  }
}

/**
 * Undefined if there is none. Commands send secrets there: a file that others can read was not written by
 * `writeAddress`, and may have come with a download.
 */
export function readAddress(dir: string): string | undefined {
  try {
    const file = join(dir, fileName)
    if ((statSync(file).mode & others) !== 0) return undefined
    const text = readFileSync(file, 'utf8').trim()
    return URL.parse(text)?.protocol === 'http:' ? text : undefined
  } catch {
    return undefined
  }
}
