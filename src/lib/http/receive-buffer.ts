// Limits how much of a connection the kernel buffers. Bun reads all of it at once, so for forwarded
// streams this bounds what one slow reader costs. Bun has no setting for it; where the C library
// cannot be loaded, connections keep their defaults.
import { dlopen, ptr } from 'bun:ffi'

type SetOption = (fd: number, level: number, name: number, value: unknown, size: number) => number

const names = ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`]
const solSocket = 1
const soRcvbuf = 8
let setOption: SetOption | undefined | false

/** A hint: the kernel has limits of its own. */
export function setReceiveBuffer(fd: number, sizeBytes: number): void {
  setOption ??= process.platform === 'linux' && load()
  if (setOption === false || !Number.isInteger(fd) || fd < 0) return
  setOption(fd, solSocket, soRcvbuf, ptr(new Int32Array([sizeBytes])), 4)
}

function load(): SetOption | false {
  for (const name of names) {
    try {
      const library = dlopen(name, {
        setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
      })
      return library.symbols.setsockopt as SetOption
    } catch {
      // Another C library (musl), or FFI is not permitted.
    }
  }
  return false
}
