import { describe, expect, test } from 'bun:test'
import { Exchange, type Link } from './answer.ts'
import { HttpError } from './error.ts'

interface Seen {
  status: number
  type: string | undefined
  text: string | undefined
}

class RecordingLink implements Link {
  readonly events: string[] = []
  pause() {
    this.events.push('pause')
  }
  resume() {
    this.events.push('resume')
  }
  width = 'wide'
  narrow() {
    this.width = 'narrow'
  }
  widen() {
    this.width = 'wide'
  }
  finished(keepMs: number) {
    this.events.push(`finished ${keepMs}`)
  }
  drop() {
    this.events.push('drop')
  }
}

const LIMITS = { maxHeaderBytes: 64 * 1024, idleMs: 4000 }

function start(): { exchange: Exchange; link: RecordingLink } {
  const exchange = new Exchange(LIMITS)
  const link = new RecordingLink()
  exchange.attach(link)
  return { exchange, link }
}

async function feed(pieces: Buffer[], closes = true): Promise<Seen & { events: string[] }> {
  const { exchange, link } = start()
  for (const piece of pieces) exchange.receive(Buffer.from(piece))
  if (closes && !exchange.ended) exchange.closed(true)
  const answer = await exchange.answer
  const text = await answer.text(1e6)
  return { status: answer.status, type: answer.header('content-type'), text, events: link.events }
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    return error instanceof HttpError ? error.kind : `other: ${error}`
  }
  return 'no error'
}

function chunked(text: string, sizeBytes: number): string {
  const bytes = Buffer.from(text)
  let out = ''
  for (let at = 0; at < bytes.length; at += sizeBytes) {
    const part = bytes.subarray(at, at + sizeBytes)
    out += `${part.length.toString(16)};ext=1\r\n${part.toString('latin1')}\r\n`
  }
  return `${out}0\r\nX-Trailer: a\r\n\r\n`
}

const BODY = 'grüße 🙂 日本'
const LATIN = Buffer.from(BODY).toString('latin1')
const HEAD = 'HTTP/1.1 200 OK\r\ncOnTent-TYPE:  text/Plain \r\n'
const FRAMINGS: Record<string, string> = {
  length: `${HEAD}Content-Length: ${LATIN.length}\r\n\r\n${LATIN}`,
  chunked: `${HEAD}Transfer-Encoding: Chunked\r\n\r\n${chunked(BODY, 5)}`,
  'until close': `${HEAD}\r\n${LATIN}`,
  interim: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n${HEAD}Content-Length: ${LATIN.length}\r\n\r\n${LATIN}`,
}

describe('an answer split anywhere', () => {
  for (const [name, raw] of Object.entries(FRAMINGS)) {
    test(`reads the same with framing ${name}`, async () => {
      const bytes = Buffer.from(raw, 'latin1')
      for (let at = 0; at <= bytes.length; at += 1) {
        const seen = await feed([bytes.subarray(0, at), bytes.subarray(at)])
        expect(seen).toMatchObject({ status: 200, type: 'text/Plain', text: BODY })
      }
      const single = await feed(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))
      expect(single).toMatchObject({ status: 200, type: 'text/Plain', text: BODY })
    })
  }

  test('reads the same for any answer and any pieces', async () => {
    let state = 20_240_607
    const below = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return (state >>> 8) % limit
    }
    const alphabet = ['a', '\r\n', '0', 'é', '🙂', '{', '\n', '漢', '\0']
    for (let round = 0; round < 1500; round += 1) {
      const text = Array.from({ length: below(60) }, () => alphabet[below(alphabet.length)]).join(
        '',
      )
      const latin = Buffer.from(text).toString('latin1')
      const status = 200 + below(4) * 100 + (below(2) === 0 ? 0 : 2)
      const value = `v${below(1000)}`
      const head = `HTTP/1.1 ${status} Any Thing\r\nX-A: 1\r\nContent-Type: ${value}\r\n`
      const raw = [
        `${head}Content-Length: ${latin.length}\r\n\r\n${latin}`,
        `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(text, 1 + below(20))}`,
        `${head}\r\n${latin}`,
      ][below(3)]!
      const bytes = Buffer.from(raw, 'latin1')
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + below(below(2) === 0 ? 4 : 80)
        pieces.push(bytes.subarray(at, end))
        at = end
      }
      expect(await feed(pieces)).toMatchObject({ status, type: value, text })
    }
  })
})

describe('a framing that two readers could understand differently', () => {
  const ok = 'HTTP/1.1 200 OK\r\n'
  const chunks = `${ok}Transfer-Encoding: chunked\r\n\r\n`
  const invalid: Record<string, string> = {
    'length and coding': `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'two lengths': `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    'a list of lengths': `${ok}Content-Length: 1, 2\r\n\r\n`,
    'a negative length': `${ok}Content-Length: -1\r\n\r\n`,
    'a signed length': `${ok}Content-Length: +1\r\n\r\n`,
    'an empty length': `${ok}Content-Length:\r\n\r\n`,
    'a hexadecimal length': `${ok}Content-Length: 0x10\r\n\r\n`,
    'an absurd length': `${ok}Content-Length: 99999999999999999999\r\n\r\n`,
    'another coding': `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    'chunked twice': `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'chunked in HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    'a folded header': `${ok}A: b\r\n c\r\n\r\n`,
    'a NUL in a header': `${ok}A: b\0c\r\n\r\n`,
    'a space before the colon': `${ok}A : b\r\n\r\n`,
    'a header without colon': `${ok}Abc\r\n\r\n`,
    'a header without name': `${ok}: b\r\n\r\n`,
    'a bare carriage return': `${ok}A: b\rc\r\n\r\n`,
    'a bare line feed': `${ok}A: b\nC: d\r\n\r\n`,
    'line feeds only': 'HTTP/1.1 200 OK\nA: b\n\n',
    'another protocol': 'SSH-2.0-x\r\n',
    'HTTP/2': 'HTTP/2 200 OK\r\n\r\n',
    'a short status': 'HTTP/1.1 20 OK\r\n\r\n',
    'a long status': 'HTTP/1.1 2000 OK\r\n\r\n',
    'a status of zero': 'HTTP/1.1 000 OK\r\n\r\n',
    'an upgrade': 'HTTP/1.1 101 Switching\r\n\r\n',
    'too many interim answers': `${'HTTP/1.1 100 C\r\n\r\n'.repeat(11)}${ok}\r\n`,
    'too many headers': `${ok}${'A: b\r\n'.repeat(301)}\r\n`,
    'a large head': `${ok}A: ${'b'.repeat(65_536)}\r\n\r\n`,
    'a large unfinished head': `${ok}A: ${'b'.repeat(65_536)}`,
    'no chunk size': `${chunks}\r\n`,
    'a bad chunk size': `${chunks}g\r\n`,
    'a signed chunk size': `${chunks}-1\r\n`,
    'a prefixed chunk size': `${chunks}0x1\r\na\r\n`,
    'a chunk size of 17 digits': `${chunks}00000000000000001\r\na\r\n`,
    'a chunk size beyond counting': `${chunks}ffffffffffffffff\r\n`,
    'a chunk size ended by a line feed': `${chunks}1\na\r\n`,
    'an overlong chunk extension': `${chunks}1;${'a'.repeat(20_000)}`,
    'a chunk longer than it says': `${chunks}1\r\nab\r\n`,
    'a bad trailer': `${chunks}0\r\n bad\r\n`,
    'an endless trailer': `${chunks}0\r\n${'A: b\r\n'.repeat(20_000)}`,
  }
  for (const [name, raw] of Object.entries(invalid)) {
    test(`is refused: ${name}`, async () => {
      const bytes = Buffer.from(raw, 'latin1')
      expect(await kindOf(feed([bytes], false))).toBe('invalid')
      const half = bytes.length >> 1
      expect(await kindOf(feed([bytes.subarray(0, half), bytes.subarray(half)], false))).toBe(
        'invalid',
      )
    })
  }
})

describe('an answer that breaks off', () => {
  for (const name of ['length', 'chunked']) {
    test(`is broken wherever it is cut, with framing ${name}`, async () => {
      const bytes = Buffer.from(FRAMINGS[name]!, 'latin1')
      for (let at = 0; at < bytes.length; at += 1) {
        expect(await kindOf(feed([bytes.subarray(0, at)]))).toBe('broken')
      }
    })
  }

  test('is broken when a body without length ends in a reset', async () => {
    const { exchange } = start()
    exchange.receive(Buffer.from('HTTP/1.1 200 OK\r\n\r\nabc'))
    exchange.closed(false)
    const answer = await exchange.answer
    expect(Buffer.from((await answer.read()) ?? []).toString()).toBe('abc')
    expect(await kindOf(answer.read())).toBe('broken')
  })
})

describe('the connection after an answer', () => {
  const after: Record<string, [string, string]> = {
    'is kept': ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'finished 4000'],
    'is kept after 204': ['HTTP/1.1 204 None\r\n\r\n', 'finished 4000'],
    'is kept with equal lengths': [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na',
      'finished 4000',
    ],
    'is closed on request': [
      'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n',
      'finished 0',
    ],
    'is closed in HTTP/1.0': ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', 'finished 0'],
    'is closed after bytes too many': [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab',
      'finished 0',
    ],
    'is kept as long as promised': [
      'HTTP/1.1 200 OK\r\nKeep-Alive: max=9, timeout=2\r\nContent-Length: 0\r\n\r\n',
      'finished 1500',
    ],
    'is kept no longer than we want': [
      'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 0\r\n\r\n',
      'finished 4000',
    ],
  }
  for (const [name, [raw, event]] of Object.entries(after)) {
    test(name, async () => {
      expect((await feed([Buffer.from(raw)], false)).events).toEqual([event])
    })
  }
})

describe('reading', () => {
  const open = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

  test('joins repeated headers and tells absent ones', async () => {
    const { exchange } = start()
    exchange.receive(Buffer.from('HTTP/1.1 200 OK\r\nA: 1\r\na: \t2 \r\nBA: 3\r\n\r\n'))
    const answer = await exchange.answer
    expect(answer.header('a')).toBe('1, 2')
    expect(answer.header('b')).toBeUndefined()
  })

  test('pauses the connection while much is unread and resumes it when it is read', async () => {
    const { exchange, link } = start()
    exchange.receive(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
    for (let i = 0; i < 4; i += 1) exchange.receive(Buffer.alloc(100_000))
    expect(link.events).toEqual(['pause'])
    await exchange.read()
    await exchange.read()
    expect(link.events).toEqual(['pause'])
    await exchange.read()
    expect(link.events).toEqual(['pause', 'resume'])
  })

  test('pauses a trickle while anything is unread and resumes it when all is read', async () => {
    const { exchange, link } = start()
    exchange.receive(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
    exchange.expectTrickle()
    const first = exchange.read()
    exchange.receive(Buffer.alloc(10))
    await first
    expect(link.events).toEqual([])
    for (let i = 0; i < 2; i += 1) exchange.receive(Buffer.alloc(10))
    expect(link.events).toEqual(['pause'])
    await exchange.read()
    expect(link.events).toEqual(['pause'])
    await exchange.read()
    expect(link.events).toEqual(['pause', 'resume'])
  })

  test('a trickle narrows the connection, and a whole body widens it again', async () => {
    const { exchange, link } = start()
    exchange.receive(Buffer.from(open))
    exchange.expectTrickle()
    expect(link.width).toBe('narrow')
    void exchange.text(4)
    expect(link.width).toBe('wide')
  })

  test('text gives up beyond its limit and drops the connection', async () => {
    for (const raw of [`${open}5\r\nabcde\r\n`, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n']) {
      const { exchange, link } = start()
      exchange.receive(Buffer.from(raw))
      expect(await (await exchange.answer).text(4)).toBeUndefined()
      expect(link.events).toEqual(['drop'])
    }
    const { exchange, link } = start()
    exchange.receive(Buffer.from(open))
    const text = exchange.text(4)
    exchange.receive(Buffer.from('3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'))
    expect(await text).toBeUndefined()
    expect(link.events).toEqual(['drop'])
  })

  test('text tells of progress, drops a byte order mark and mends bad UTF-8', async () => {
    const { exchange } = start()
    let progress = 0
    exchange.receive(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n'))
    const text = exchange.text(6, {
      touch() {
        progress += 1
      },
    })
    exchange.receive(Buffer.from([0xef, 0xbb]))
    exchange.receive(Buffer.from([0xbf, 0x61, 0xff, 0x62]))
    expect(await text).toBe('a\ufffdb')
    expect(progress).toBe(2)
  })

  test('cancel makes everything reject and drops only an unfinished connection', async () => {
    const { exchange, link } = start()
    exchange.receive(Buffer.from(`${open}1\r\na\r\n`))
    const answer = await exchange.answer
    await answer.read()
    const waiting = answer.read()
    answer.cancel()
    expect(await kindOf(waiting)).toBe('cancelled')
    expect(await kindOf(answer.text(10))).toBe('cancelled')
    expect(link.events).toEqual(['drop'])

    const whole = start()
    whole.exchange.receive(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na'))
    whole.exchange.cancel()
    expect(await kindOf(whole.exchange.read())).toBe('cancelled')
    expect(whole.link.events).toEqual(['finished 4000'])
  })
})
