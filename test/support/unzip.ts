// Reads a ZIP archive by its directory, as other programs do.
import { inflateRawSync } from 'node:zlib'

export function unzip(bytes: Uint8Array): Map<string, string> {
  const all = Buffer.from(bytes)
  const end = all.lastIndexOf(Buffer.from('PK\x05\x06'))
  if (end < 0) throw new Error('the archive has no end')
  const files = new Map<string, string>()
  let at = all.readUInt32LE(end + 16)
  for (let left = all.readUInt16LE(end + 10); left > 0; left--) {
    const nameEnd = at + 46 + all.readUInt16LE(at + 28)
    const from = all.readUInt32LE(at + 42)
    const data = from + 30 + all.readUInt16LE(from + 26) + all.readUInt16LE(from + 28)
    const packed = all.subarray(data, data + all.readUInt32LE(at + 20))
    files.set(all.toString('utf8', at + 46, nameEnd), inflateRawSync(packed).toString())
    at = nameEnd
  }
  return files
}
