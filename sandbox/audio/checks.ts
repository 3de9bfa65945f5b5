// The check sums of sound files, and the pages that need one.

export const crc8 = (bytes: Uint8Array): number => sumOf(bytes, 8, 0x07)
export const crc16 = (bytes: Uint8Array): number => sumOf(bytes, 16, 0x8005)

function sumOf(bytes: Uint8Array, width: number, polynomial: number): number {
  const [top, mask] = [2 ** (width - 1), 2 ** width - 1]
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte * 2 ** (width - 8)
    for (let bit = 0; bit < 8; bit++) {
      sum = (sum & top) === 0 ? (sum * 2) & mask : ((sum * 2) ^ polynomial) & mask
    }
  }
  return sum
}

const crc32Table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = (byte << 24) >>> 0
  for (let bit = 0; bit < 8; bit++) sum = ((sum << 1) ^ (sum & 0x80000000 ? 0x04c11db7 : 0)) >>> 0
  return sum
})

function crc32(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) sum = ((sum << 8) ^ crc32Table[((sum >>> 24) ^ byte) & 0xff]!) >>> 0
  return sum
}

/** One page of an Ogg stream, with packets of less than 255 bytes. */
export function oggPage(
  packets: readonly Uint8Array[],
  position: bigint,
  number: number,
  flags: number,
): Uint8Array {
  const head = Buffer.alloc(27)
  head.write('OggS', 0, 'latin1')
  head[5] = flags
  head.writeBigInt64LE(position, 6)
  head.writeUInt32LE(1, 14)
  head.writeUInt32LE(number, 18)
  head[26] = packets.length
  const sizes = Uint8Array.from(packets, ({ length }) => length)
  const page = Buffer.concat([head, sizes, ...packets])
  page.writeUInt32LE(crc32(page), 22)
  return page
}
