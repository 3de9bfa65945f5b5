import { expect, test } from 'bun:test'
import { readDirectives } from './directives.ts'

const read = (text: string) => readDirectives({ messages: [{ content: [{ text }] }] })

test('a request without directives asks for nothing', () => {
  expect(read('plain [[sim]] text')).toEqual({
    delayMs: 0,
    chunkMs: 0,
    interleaved: false,
    strict: false,
    cite: false,
    preamble: false,
    redacted: false,
    replay: false,
    noDone: false,
    hang: false,
    noUsage: false,
    leak: false,
    noOutput: false,
    flip: false,
    vanish: false,
  })
})

test('every directive is read with its value', () => {
  const all = [
    'delay=2s',
    'chunk=20ms',
    'tokens=500',
    'status=429',
    'fail=content_policy',
    'cut=5',
    'error-after=3',
    'reasoning=7',
    'tool=look-up',
    'calls=3',
    'interleaved',
    'strict',
    'cite',
    'preamble',
    'redacted',
    'replay',
    'refusal=prompt',
    'finish=none',
    'no-done',
    'keep-alive=5',
    'usage=last',
    'hang',
    'no-usage',
    'leak',
    'images=2',
    'no-output',
    'flip',
    'vanish',
    'poll=503',
  ]
  expect(read(all.map((one) => `[[sim:${one}]]`).join(' and '))).toEqual({
    delayMs: 2000,
    chunkMs: 20,
    outputTokens: 500,
    status: 429,
    fail: 'content_policy',
    cutAfterChunks: 5,
    errorAfterChunks: 3,
    reasoningTokens: 7,
    tool: 'look-up',
    calls: 3,
    interleaved: true,
    strict: true,
    cite: true,
    preamble: true,
    redacted: true,
    replay: true,
    refusal: 'prompt',
    finish: 'none',
    noDone: true,
    keepAliveEvents: 5,
    usage: 'last',
    hang: true,
    noUsage: true,
    leak: true,
    images: 2,
    noOutput: true,
    flip: true,
    vanish: true,
    poll: 503,
  })
})

test('the number of images has two names, and the last one counts', () => {
  expect(read('[[sim:partial=3]]').images).toBe(3)
  expect(read('[[sim:partial=3]] [[sim:images=0]]').images).toBe(0)
})

test('what goes wrong with questions is a status or a word', () => {
  expect(read('[[sim:poll=hang]]').poll).toBe('hang')
  expect(read('[[sim:poll=leak]]').poll).toBe('leak')
  expect(read('[[sim:poll=fail]] [[sim:poll]] [[sim:poll=200]]').poll).toBeUndefined()
})

test('reasoning and a function can be asked for without saying how much or which', () => {
  expect(read('[[sim:reasoning]] [[sim:tool]]')).toMatchObject({ reasoningTokens: '', tool: '' })
  expect('reasoningTokens' in read('[[sim:reasoning=much]]')).toBe(false)
})

test('the last directive of a kind wins, wherever the texts stand', () => {
  const found = readDirectives({ a: '[[sim:tokens=1]]', b: { c: ['[[sim:tokens=2]]'] } })
  expect(found.outputTokens).toBe(2)
})

test('a value that makes no sense leaves the directive plain text', () => {
  const found = read('[[sim:tokens=many]][[sim:status=200]][[sim:delay=5]][[sim:constructor=1]]')
  expect(found).toEqual(read(''))
})

test('pauses have an upper bound', () => {
  expect(read('[[sim:delay=999999s]]').delayMs).toBe(600_000)
})

test('the guide names every directive', async () => {
  const source = await Bun.file(new URL('directives.ts', import.meta.url)).text()
  const names = [...source.matchAll(/^ {2}\['([a-z-]+)',/gm)].map(([, name]) => name!)
  const page = await Bun.file(new URL('../../docs/use/sandbox.md', import.meta.url)).text()
  const named = new Set([...page.matchAll(/^\| `\[\[sim:([a-z-]+)/gm)].map(([, name]) => name!))
  expect([...named].sort()).toEqual([...new Set([...names, 'tools'])].sort())
})
