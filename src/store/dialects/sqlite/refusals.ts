// Errors while opening the SQLite store, as one sentence that says what to do.

import { codeOf, StoreRefused } from '../errors.ts'
import { messageOf } from '../health.ts'
import { lostCode } from './high-water-mark.ts'

export function refusalFor(error: unknown, dataDir: string, file: string): Error {
  if (error instanceof StoreRefused) return error
  const code = codeOf(error)
  const aboutLock = (error as { file?: string }).file?.endsWith('gateway.lock') === true
  const starts = (...prefixes: string[]) => prefixes.some((prefix) => code.startsWith(prefix))

  if (code === lostCode) {
    return new StoreRefused(
      `${file} has lost data: ${messageOf(error)}, as ${dataDir}/gateway.mark proves. Put back its ` +
        'newest files (gateway.db with gateway.db-wal and gateway.journal-*), or restore a backup ' +
        'with gateway restore; to go on without what is lost, delete gateway.mark.',
    )
  }
  if (starts('SQLITE_BUSY', 'SQLITE_LOCKED')) {
    return new StoreRefused(
      aboutLock
        ? `${dataDir} is in use by another gateway; stop it, or start this one with a data ` +
            'directory of its own.'
        : `${file} is locked by another process; close the program that has it open (a database ` +
            'shell, a backup) and start again.',
    )
  }
  if (starts('SQLITE_NOTADB', 'SQLITE_CORRUPT')) {
    const which = aboutLock ? `${dataDir}/gateway.lock` : file
    return new StoreRefused(
      `${which} is not a database or is damaged; ` +
        (aboutLock
          ? 'it holds nothing, so delete it and start again.'
          : 'restore it from a backup, or move the data directory away to start empty.'),
    )
  }
  if (starts('SQLITE_FULL', 'ENOSPC', 'EDQUOT')) {
    return new StoreRefused(`the disk of ${dataDir} is full; free some space and start again.`)
  }
  if (starts('SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_PERM', 'EROFS', 'EACCES', 'EPERM')) {
    return new StoreRefused(
      `${file} cannot be written; make ${dataDir} writable for this user, or set another data ` +
        'directory.',
    )
  }
  if (starts('ENOTDIR', 'EEXIST')) {
    return new StoreRefused(
      `${dataDir} is not a directory; set another data directory or move the file away.`,
    )
  }
  return new StoreRefused(
    `${file} cannot be opened (${messageOf(error)}); check the disk and the permissions of ` +
      `${dataDir}.`,
  )
}
