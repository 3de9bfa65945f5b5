import { expect, test } from 'bun:test'
import { checkLines, sampleLines } from './lines.ts'

const line = (more: object) =>
  JSON.stringify({
    ...{ custom_id: 'a', method: 'POST', url: '/v1/embeddings', body: { model: 'm' } },
    ...more,
  })

test('the sample has no mistakes', () => {
  expect(checkLines(sampleLines('m'))).toEqual({
    ...{ lines: 3, url: '/v1/chat/completions', models: ['m'], mistakes: [] },
  })
})

test('each mistake is told with its line; empty lines are none', () => {
  const text = [
    line({}),
    '',
    '[]',
    'no json',
    line({ custom_id: '' }),
    line({}),
    line({ custom_id: 'b', method: 'GET' }),
    line({ custom_id: 'c', url: '/v1/videos' }),
    line({ custom_id: 'd', url: '/v1/messages' }),
    line({ custom_id: 'e', body: {} }),
    line({ custom_id: 'f', body: { model: 'n', stream: true } }),
  ].join('\r\n')
  const { lines, url, models, mistakes } = checkLines(text)
  expect([lines, url, models]).toEqual([10, '/v1/embeddings', ['m', 'n']])
  expect(mistakes.map(({ line: at, mistake }) => `${at} ${mistake}`)).toEqual([
    '3 not_object',
    '4 not_object',
    '5 no_custom_id',
    '6 same_custom_id',
    '7 wrong_method',
    '8 wrong_url',
    '9 other_url',
    '10 no_model',
    '11 streams',
  ])
})
