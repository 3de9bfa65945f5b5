// A reader gets a body as it arrives, in order, and its end once; its connection waits while it is full.
import { expect, spyOn, test } from 'bun:test'
import { BodyQueue, type BodyReader } from './body-queue.ts'
import { HttpError } from './error.ts'
import { readable } from './pipe-by-read.ts'

class Recorder implements BodyReader {
  readonly seen: string[] = []
  isFull = false
  take(bytes: Uint8Array): boolean {
    this.seen.push(Buffer.from(bytes).toString())
    return !this.isFull
  }
  end(): void {
    this.seen.push('<end>')
  }
  fail(error: Error): void {
    this.seen.push(`<${(error as HttpError).kind}>`)
  }
}

function start() {
  const flow: string[] = []
  const body = new BodyQueue({
    stopReading: () => flow.push('stop'),
    startReading: () => flow.push('start'),
  })
  body.expectTrickle()
  return {
    body,
    flow,
    reader: new Recorder(),
    push: (text: string) => body.push(Buffer.from(text)),
  }
}

const broken = new HttpError('broken', 'gone')

test('a reader gets what waited, then what comes, then the end', () => {
  const { body, flow, reader, push } = start()
  push('a')
  body.pipe(reader)
  push('b')
  body.complete()
  expect(reader.seen).toEqual(['a', 'b', '<end>'])
  expect(flow).toEqual(['stop', 'start'])
})

test('a full reader stops its connection and loses nothing', () => {
  const { body, flow, reader, push } = start()
  body.pipe(reader)
  reader.isFull = true
  push('a')
  push('b')
  push('c')
  expect(reader.seen).toEqual(['a'])
  body.resume()
  expect(reader.seen).toEqual(['a', 'b'])
  body.complete()
  reader.isFull = false
  body.resume()
  expect(reader.seen).toEqual(['a', 'b', 'c', '<end>'])
  expect(flow).toEqual(['stop'])
})

test('the end of a full reader waits until it takes bytes again', () => {
  const { body, reader, push } = start()
  body.pipe(reader)
  reader.isFull = true
  push('a')
  body.complete()
  expect(reader.seen).toEqual(['a'])
  body.resume()
  expect(reader.seen).toEqual(['a', '<end>'])
})

test('a failure comes at once, but after the bytes before it', () => {
  const { body, reader, push } = start()
  body.pipe(reader)
  reader.isFull = true
  push('a')
  push('b')
  body.fail(broken)
  expect(reader.seen).toEqual(['a'])
  reader.isFull = false
  body.resume()
  expect(reader.seen).toEqual(['a', 'b', '<broken>'])
  const other = start()
  other.body.pipe(other.reader)
  other.reader.isFull = true
  other.push('a')
  other.body.fail(broken)
  expect(other.reader.seen).toEqual(['a', '<broken>'])
})

test('a body that is cancelled fails once, also when all of it has come', () => {
  const { body, reader, push } = start()
  body.pipe(reader)
  reader.isFull = true
  push('a')
  push('b')
  body.complete()
  body.cancel()
  body.cancel()
  body.resume()
  expect(reader.seen).toEqual(['a', '<cancelled>'])
})

test('a body that its reader releases in the middle says no more', () => {
  const { body, push, flow } = start()
  const seen: string[] = []
  body.pipe({
    take(bytes) {
      seen.push(Buffer.from(bytes).toString())
      body.release()
      return false
    },
    end: () => seen.push('<end>'),
    fail: () => seen.push('<failed>'),
  })
  push('a')
  push('b')
  body.complete()
  expect(seen).toEqual(['a'])
  expect(flow).toEqual([])
})

test('a body that can only be read is piped in the same way', async () => {
  const reader = new Recorder()
  const pieces = ['a', 'b', 'c'].map((text) => Buffer.from(text))
  const piped = readable(async () => pieces.shift())
  reader.isFull = true
  piped.pipe(reader)
  await Bun.sleep(0)
  expect(reader.seen).toEqual(['a'])
  reader.isFull = false
  piped.resume()
  piped.resume()
  await Bun.sleep(0)
  expect(reader.seen).toEqual(['a', 'b', 'c', '<end>'])
  const failing = new Recorder()
  readable(() => Promise.reject(broken)).pipe(failing)
  await Bun.sleep(0)
  expect(failing.seen).toEqual(['<broken>'])
})

test('a long body of an announced length is gathered as it comes, with what has come before', async () => {
  const { body, push } = start()
  push('ab')
  const whole = body.text(100, 6, 4)
  push('cde')
  push('fgh')
  body.complete()
  const bytes = (await whole) as Uint8Array<ArrayBuffer>
  expect([Buffer.from(bytes).toString(), bytes.buffer.byteLength]).toEqual(['abcdefgh', 8])
})

test.each([
  ['a short one', 2, 4],
  ['one of unknown length', 0, 1],
])('%s is not', async (_, announced, longBytes) => {
  const concats = spyOn(Buffer, 'concat')
  const { body, push } = start()
  const whole = body.text(100, announced, longBytes)
  push('a')
  push('b')
  body.complete()
  expect(Buffer.from((await whole)!).toString()).toBe('ab')
  expect(concats).toHaveBeenCalledTimes(1)
  concats.mockRestore()
})

test('a gathered body that breaks off is none', async () => {
  const { body, push } = start()
  const whole = body.text(100, 6, 4) as Promise<unknown>
  push('abc')
  body.fail(broken)
  await expect(whole).rejects.toBe(broken)
})
