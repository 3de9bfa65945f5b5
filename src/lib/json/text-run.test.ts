// A run takes what differs in its text and in what is ignored, and nothing else.
import { expect, test } from 'bun:test'
import { TextTemplate } from './text-template.ts'

const event = (delta: string, number: unknown, item = 0): string =>
  `data: ${JSON.stringify({ type: 'd', item, delta, number })}\n\n`

const dataOf = (text: string): string => text.slice('data: '.length, -2)

function runAfter(events: readonly [delta: string, number: number, item?: number][]) {
  const template = new TextTemplate()
  for (const [delta, number, item] of events) {
    const data = dataOf(event(delta, number, item))
    if (template.match(data) === undefined) template.learn(data, JSON.parse(data), delta)
  }
  return template.runOf('data: ', '\n\n', { text: 'delta', ignored: ['number'] })
}

test('a run gives the text of each event and where it ends', () => {
  const run = runAfter([
    ['a', 1],
    ['b', 2],
  ])!
  const all = event('first', 3) + event('', 10) + event('日本 🙂', 11)
  const texts: string[] = []
  let at = 0
  for (let end = run.take(all, at); end !== -1; end = run.take(all, at)) {
    texts.push(run.text)
    at = end
  }
  expect([texts, at]).toEqual([['first', '', '日本 🙂'], all.length])
})

test('an event with anything else is not taken', () => {
  const run = runAfter([
    ['a', 1],
    ['b', 2],
  ])!
  const others = [
    event('a "quote"', 3),
    event('a\nline', 3),
    event('a', 3, 1),
    event('a', 'three'),
    event('a', 1.5),
    event('a', null),
    event('a', 3).replace('3', '03'),
    event('a', 3).replace('3', '-'),
    event('a', 3).replace('"a"', '"\t"'),
    event('a', 3).trimEnd(),
    event('a', 3).slice(0, 20),
    `: comment\n\n${event('a', 3)}`,
  ]
  expect(others.map((other) => run.take(other, 0))).toEqual(others.map(() => -1))
  expect(run.take(event('a', -3), 0)).toBeGreaterThan(0)
})

test('there is no run where a field changes that has a meaning', () => {
  const changing = runAfter([
    ['a', 1, 0],
    ['b', 2, 1],
  ])
  expect(changing).toBeUndefined()
})
