// For threads beside the one that serves all callers: where cores are few, that one goes first.
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

const nicer = 10

/** Of the thread that it is called in. */
export function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), nicer)
  } catch {
    // Not on this system.
  }
}
