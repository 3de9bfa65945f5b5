import { expect, test } from 'bun:test'
import { commandsIn } from './text-commands.ts'

const found = (text: string) => commandsIn([text])!.map(({ name, value }) => [name, value])

test('every command is found, with its value', () => {
  expect(
    found('a boat --rs 720p --rt 16:9 --dur 5 --frames 57 --fps 24 --seed 7 --wm true'),
  ).toEqual([
    ['resolution', '720p'],
    ['ratio', '16:9'],
    ['duration', '5'],
    ['frames', '57'],
    ['rate', '24'],
  ])
  expect(found('--resolution 480p --ratio 1:1 --duration 2 --framespersecond 24')).toEqual([
    ['resolution', '480p'],
    ['ratio', '1:1'],
    ['duration', '2'],
    ['rate', '24'],
  ])
  expect(found('--dur 2 and again --dur 12')).toEqual([
    ['duration', '2'],
    ['duration', '12'],
  ])
})

test.each([
  ['--dur\t12'],
  ['--dur\n12'],
  ['--dur \r\n\t 12'],
  ['--dur=12'],
  ['--dur = 12'],
  ['--dur: 12'],
  ['--dur "12"'],
  ['--dur12'],
  ['--DUR 12'],
  ['--Duration\u00a012'],
  ['--duration\u300012'],
  ['cat--dur 12'],
  ['-- dur 12'],
  ['---dur 12'],
  ['-dur 12'],
  ['x\n-dur 12'],
  ['\u2014dur 12'],
  ['\u2013dur 12'],
  ['\u2013\u2013dur 12'],
  ['\uff0d\uff0ddur 12'],
  ['\u2212\u2212dur 12'],
  ['\uff0d\uff0d\uff44\uff55\uff52 \uff11\uff12'],
  ['--d\u200bur 12'],
  ['-\u00ad-dur 12'],
  ['--dur\u0000 12'],
  ['--durat 12'],
  ['--du 12.'],
])('%j is a command for 12 seconds', (text) => {
  expect(found(`a cat ${text}`)).toContainEqual(['duration', '12'])
})

test('a command in the place of a value is found too', () => {
  expect(found('--rs --dur 12')).toEqual([
    ['resolution', '--dur'],
    ['duration', '12'],
  ])
  expect(found('--dur')).toEqual([['duration', '']])
})

test('words that only look like one are none', () => {
  expect(found('a high-resolution boat, well-framed - for the duration -- and a ratio')).toEqual([])
  expect(found('--durations 12 --seed 3 --camerafixed true')).toEqual([])
})

test('one that is spelled as documented is known as such', () => {
  const documented = (text: string) => commandsIn([text])!.map(({ isDocumented }) => isDocumented)
  expect(documented('a boat --dur 5 --rs  720p')).toEqual([true, true])
  expect(documented('--dur=5')).toEqual([false])
  expect(documented('--DUR 5')).toEqual([false])
  expect(documented('--durat 5')).toEqual([false])
})

test('a long text of dashes and blanks is read in a moment', () => {
  expect(commandsIn([`${'--rs '.repeat(500)}${' '.repeat(1_000_000)}`])).toHaveLength(500)
  expect(commandsIn(['-'.repeat(1_000_000)])).toEqual([])
})

test('there may be more than are read, in one text or in several', () => {
  const many = '--rs 480p '.repeat(300)
  expect(commandsIn([many])).toHaveLength(300)
  expect(commandsIn([many, many])).toBeUndefined()
  expect(commandsIn([many + many])).toBeUndefined()
  expect(commandsIn(['-- '.repeat(501)])).toBeUndefined()
})
