// The head of an answer, against a grammar that is written as patterns.
import { expect, test } from 'bun:test'
import { seeded } from '../../../test/support/seeded.ts'
import { HttpHead } from './head.ts'

const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [^\r\n\0]*)?\r\n/
const headerLine = /^[!#$%&'*+\-.^_`|~\w]+:[^\r\n\0]*\r\n/

/** Names and values in order; undefined: it is no head. */
function readByPattern(text: string): [string, string][] | undefined {
  const start = statusLine.exec(text)
  if (start === null) return undefined
  const lines: [string, string][] = []
  let rest = text.slice(start[0].length)
  while (rest !== '') {
    const line = headerLine.exec(rest)?.[0]
    if (line === undefined) return undefined
    const colon = line.indexOf(':')
    lines.push([line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()])
    rest = rest.slice(line.length)
  }
  return lines
}

const parts = [
  ...[
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.0 204\r\n',
    'HTTP/1.1 099 x\r\n',
    'HTTP/1.1 200\r',
    'HTTP/1.1 200x\r\n',
  ],
  ...[
    'Content-Length: 5\r\n',
    'content-length:5\r\n',
    'CONTENT_LENGTH: 7\r\n',
    'X-Request-Id: a b \r\n',
  ],
  ...[
    'x-request-id: two\r\n',
    'x-request-ids: no\r\n',
    ' folded\r\n',
    ': empty\r\n',
    'a b: c\r\n',
    'x:\r\n',
  ],
  ...['\r\n', '\n', '\r', '\0', ':', '\u00e9: x\r\n', 'x: \u00e9\r\n', 'x^y|~`: 1\r\n'],
]
const wanted = ['content-length', 'x-request-id', 'x', 'host']

test('a head is read as the grammar says, or refused', () => {
  const random = seeded(Number(process.env['TEST_SEED'] ?? 11))
  const pick = () => parts[Math.floor(random() * parts.length)]!
  let good = 0
  for (let i = 0; i < 20_000; i++) {
    const begin = random() < 0.8 ? parts[Math.floor(random() * 2)]! : ''
    const text = begin + Array.from({ length: Math.floor(random() * 5) }, pick).join('')
    const lines = readByPattern(text)
    if (lines === undefined) {
      expect(() => new HttpHead(text)).toThrow()
      continue
    }
    good++
    const head = new HttpHead(text)
    for (const name of wanted) {
      const values = lines.filter(([other]) => other === name).map(([, value]) => value)
      expect(head.header(name)).toBe(values.length === 0 ? undefined : values.join(', '))
    }
  }
  expect(good).toBeGreaterThan(1_000)
})
