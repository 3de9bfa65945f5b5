// gateway backup: everything the gateway knows, into a file. Putting it back needs the database
// itself, which this program never opens: see src/db.ts.
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, exitCodes, misuse, Stop } from './command.ts'

export const backupCommands: readonly Command[] = [
  {
    path: ['backup'],
    args: ['FILE'],
    summary: 'everything in the database as it is now, into a file; restore puts it back',
    flags: {},
    async run({ line, admin }) {
      const file = line.arg(0)
      const response = await admin.open('GET', '/backup')
      const bytes = await save(response, file)
      const answer = { file, bytes }
      const text = `${file}: ${(bytes / 1e6).toFixed(1)} MB`
      return { answer, text, note: 'the master key is not in it: keep it elsewhere, and safe' }
    },
  },
]

/** Under another name until it is whole: half a backup must not look like one. */
async function save(response: Response, file: string): Promise<number> {
  const partial = `${file}.partial`
  const out = createWriteStream(partial, { mode: 0o600 })
  try {
    await pipeline(Readable.fromWeb(response.body as never), out)
    await rename(partial, file)
    return out.bytesWritten
  } catch (error) {
    await rm(partial, { force: true })
    const { code, path, message } = error as NodeJS.ErrnoException
    if (path !== undefined) throw misuse(`${path} cannot be written (${code})`)
    throw new Stop(exitCodes.unreachable, `the backup broke off: ${message}`)
  }
}
