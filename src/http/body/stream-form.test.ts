// A form in pieces: wherever it is cut, its parts are the same.
import { expect, test } from 'bun:test'
import { StreamForm } from './stream-form.ts'

const content = `a line\r\n--edg\r\n--\r\n${'x'.repeat(200)}\r\n-\r\n--edgy`
const body = Buffer.from(
  '--edge\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n' +
    '--edge\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n' +
    `content-type: text/plain\r\n\r\n${content}\r\n--edge--\r\n`,
)

async function* cut(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function partsOf(pieces: AsyncIterable<Uint8Array>) {
  const form = new StreamForm(pieces, 'multipart/form-data; boundary=edge')
  const parts: [string, string][] = []
  for (let part = await form.next(); part !== undefined; part = await form.next()) {
    parts.push([part.name, Buffer.concat(await Array.fromAsync(part.content)).toString()])
  }
  return parts
}

test('its parts are the same in pieces of any size', async () => {
  for (let size = 1; size <= body.length; size++) {
    expect(await partsOf(cut(body, size))).toEqual([
      ['purpose', 'batch'],
      ['file', content],
    ])
  }
})

test('one that is cut off is none', async () => {
  for (const end of [20, 80, 150, body.length - 5]) {
    const read = partsOf(cut(body.subarray(0, end), 7))
    expect(
      await read.then(
        () => 'whole',
        (error: Error) => error.name,
      ),
    ).toBe('BadForm')
  }
})
