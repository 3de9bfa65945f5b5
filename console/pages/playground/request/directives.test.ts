import { expect, test } from 'bun:test'
import { directivesIn, withDirectives } from './directives.ts'

test('what the sandbox is told is read out of the text, the last of a kind', () => {
  const text =
    'Hi [[sim:delay=1s]] [[sim:delay=250ms]] [[sim:tokens=50]][[sim:fail=content_policy]]'
  expect(directivesIn(text)).toEqual({
    delaySeconds: 0.25,
    tokens: 50,
    failure: 'fail=content_policy',
  })
  expect(directivesIn('[[sim:delay=soon]] [[sim:hang]]')).toEqual({ failure: 'hang' })
  expect(directivesIn('plain [[sim:tool]]')).toEqual({})
})

test('it is written at the end, and what else is told stays', () => {
  const wanted = { delaySeconds: 1.5, chunkMs: 20, failure: 'status=429' }
  const text = withDirectives('Hi [[sim:tool]] there [[sim:fail]]', wanted)
  expect(text).toBe(
    'Hi [[sim:tool]] there [[sim:delay=1500ms]] [[sim:chunk=20ms]] [[sim:status=429]]',
  )
  expect(directivesIn(text)).toEqual(wanted)
  expect(withDirectives(text, {})).toBe('Hi [[sim:tool]] there')
  expect(withDirectives('two\n lines ', {})).toBe('two\n lines ')
})
