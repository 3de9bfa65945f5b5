// What is left of a data directory after a power cut: files whose content was not synced hold zero bytes, and names
// whose directory was not synced are there or not. SQLite's own files are left as they are: it syncs them itself.
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const written = /^(write|truncate) (?!gateway\.journal-[ab])/

/** `operations`: those that were done before the cut. */
export function losePower(dir: string, operations: readonly string[], keepsNames: boolean): void {
  const [unsynced, synced, unnamed] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const known = new Set<string>()
  for (const line of operations) {
    const [kind = '', name = '', from = ''] = line.split(' ')
    if (written.test(line)) unsynced.add(name)
    if (kind === 'sync' && name === 'data') unnamed.clear()
    else if (kind === 'sync') {
      unsynced.delete(name)
      synced.add(name)
    }
    if ((kind === 'open' || kind === 'link' || kind === 'rename') && !known.has(name)) {
      unnamed.add(name)
      known.add(name)
      if (unsynced.has(from)) unsynced.add(name)
    }
  }
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const path = join(dir, name)
    // Overwritten in place, it may be old, but it is not empty.
    const isLost = unsynced.has(name) && !synced.has(name)
    if (unnamed.has(name) && !keepsNames) rmSync(path)
    else if (isLost) writeFileSync(path, Buffer.alloc(statSync(path).size))
  }
}
