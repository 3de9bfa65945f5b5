// A value that lies in a file of its own, such as a secret that an orchestrator mounts. Its content never
// appears in a message.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const maxBytes = 64 * 1024

/** `problem` reads on after the name of the setting. A newline at the end is no part of the value. */
export function readSecretFile(
  named: string,
  configPath: string,
): { value: string } | { problem: string } {
  if (named === '') return { problem: 'names no file after ${file:' }
  const path = resolve(dirname(configPath), named)
  const broken = (why: string) => ({ problem: `needs the file ${path}, which ${why}` })
  let bytes: Uint8Array
  try {
    const file = openSync(path, 'r')
    try {
      const stat = fstatSync(file)
      if (!stat.isFile()) return broken('is not a plain file')
      if (stat.size > maxBytes) return broken(`is larger than ${maxBytes} bytes`)
      bytes = readFileSync(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return broken(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`)
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { value: text.replace(/\r?\n$/, '') }
  } catch {
    return broken('is not UTF-8 text')
  }
}
