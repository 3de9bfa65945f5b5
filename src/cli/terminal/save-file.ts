// An answer of the gateway, saved to a file. Knows no command.
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Outcome } from './command.ts'
import { exitCodes, misuse, Stop } from './stop.ts'

/** Under another name until it is whole: half a file must not look like one. */
export async function saveFile(
  response: Response,
  file: string,
  what: string,
): Promise<Outcome & { answer: { file: string; bytes: number } }> {
  const partial = `${file}.partial`
  const out = createWriteStream(partial, { mode: 0o600 })
  try {
    await pipeline(Readable.fromWeb(response.body as never), out)
    await rename(partial, file)
    const bytes = out.bytesWritten
    return { answer: { file, bytes }, text: `${file}: ${bytes} bytes` }
  } catch (error) {
    await rm(partial, { force: true })
    const { code, path, message } = error as NodeJS.ErrnoException
    if (path !== undefined) throw misuse(`${path} cannot be written (${code})`)
    throw new Stop(exitCodes.unreachable, `${what} broke off: ${message}`)
  }
}
