// Files as a ZIP archive, one after the other: no more than one of them is in memory. Knows nothing of what is
// in them.
import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'

export interface ZipFile {
  name: string
  text: string
}

const deflate = promisify(deflateRaw)
/** Beyond these a reader needs another form of archive. */
const maxFiles = 65_534
const maxBytes = 0xffff_fffe
/** Names are UTF-8. */
const flags = 1 << 11
const version = 20
const deflated = 8

/** Fails when they are more than an archive takes: without its end no reader takes it for whole. */
export function zipOf(files: AsyncIterator<ZipFile>, atMs: number): ReadableStream<Uint8Array> {
  const directory: Buffer[] = []
  let offset = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await files.next()
      if (next.done) {
        controller.enqueue(endOf(directory, offset))
        controller.close()
        return
      }
      const { head, bytes, entry } = await packed(next.value, atMs, offset)
      directory.push(entry)
      offset += head.length + bytes.length
      if (directory.length > maxFiles || offset > maxBytes) {
        throw new Error('the archive is too large')
      }
      controller.enqueue(Buffer.concat([head, bytes]))
    },
    async cancel() {
      await files.return?.()
    },
  })
}

async function packed({ name, text }: ZipFile, atMs: number, offset: number) {
  const [nameBytes, plain] = [Buffer.from(name), Buffer.from(text)]
  const bytes = await deflate(plain)
  const common = Buffer.alloc(26)
  common.writeUInt16LE(version, 0)
  common.writeUInt16LE(flags, 2)
  common.writeUInt16LE(deflated, 4)
  common.writeUInt32LE(dosTime(atMs), 6)
  common.writeUInt32LE(crc32(plain), 10)
  common.writeUInt32LE(bytes.length, 14)
  common.writeUInt32LE(plain.length, 18)
  common.writeUInt16LE(nameBytes.length, 22)
  const place = Buffer.alloc(14)
  place.writeUInt32LE(offset, 10)
  const made = Buffer.alloc(2)
  made.writeUInt16LE(version)
  return {
    head: Buffer.concat([Buffer.from('PK\x03\x04'), common, nameBytes]),
    bytes,
    entry: Buffer.concat([Buffer.from('PK\x01\x02'), made, common, place, nameBytes]),
  }
}

/** Two seconds are its unit. */
function dosTime(atMs: number): number {
  const at = new Date(atMs)
  const day = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return ((day << 16) | time) >>> 0
}

function endOf(directory: readonly Buffer[], offset: number): Buffer {
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([entries, end])
}
