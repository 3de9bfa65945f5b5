// Tests the kernel's receive buffer on a real connection: without a reader, compares how much the
// peer can write before it is stopped.
import { expect, test } from 'bun:test'
import { setReceiveBuffer } from './receive-buffer.ts'

const floodBytes = 64 * 1024 * 1024

/** Bytes that can be written to a connection of which nothing is read. */
async function capacity(prepare: (fd: number) => void): Promise<number> {
  let written = 0
  const flood = (socket: Bun.Socket) => {
    const chunk = new Uint8Array(64 * 1024)
    for (let sent = chunk.length; sent === chunk.length && written < floodBytes; ) {
      sent = socket.write(chunk)
      written += Math.max(0, sent)
    }
  }
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => {}, data: flood, drain: flood },
  })
  const client = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port,
    socket: { data: () => {} },
  })
  prepare((client as unknown as { fd: number }).fd)
  client.pause()
  client.write('go')
  let before = -1
  while (before !== written || written === 0) {
    before = written
    await Bun.sleep(100)
  }
  client.terminate()
  server.stop(true)
  return written
}

test.if(process.platform === 'linux')('a narrow connection holds less unread', async () => {
  const usual = await capacity(() => {})
  const narrow = await capacity((fd) => setReceiveBuffer(fd, 16 * 1024))
  expect(narrow).toBeLessThan(usual)
})

test('what is no open file is left alone', () => {
  for (const fd of [-1, Number.NaN, 1.5]) expect(() => setReceiveBuffer(fd, 1)).not.toThrow()
})
