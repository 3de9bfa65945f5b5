import { expect, test } from 'bun:test'
import { categoriesIn, rankedIn, textsIn } from './judged.ts'

test('a ranking names the places of the documents, which may be texts or objects', () => {
  expect(rankedIn({ results: [{ index: 1, relevance_score: 0.9 }] })).toEqual([
    { index: 1, score: 0.9 },
  ])
  expect(rankedIn('no answer')).toEqual([])
  expect(textsIn({ documents: ['a', { text: 'b' }, 3] }, 'documents')).toEqual([
    'a',
    'b',
    undefined,
  ])
  expect(textsIn({ input: 'one' }, 'input')).toEqual(['one'])
})

test('categories come with the one that fits best first, also without scores', () => {
  const results = [
    { flagged: true, categories: { a: false, b: true }, category_scores: { a: 0.1, b: 0.8 } },
    { flagged: false, categories: { a: false } },
  ]
  expect(categoriesIn({ results })).toEqual([
    {
      isFlagged: true,
      categories: [
        { name: 'b', score: 0.8, isMet: true },
        { name: 'a', score: 0.1, isMet: false },
      ],
    },
    { isFlagged: false, categories: [{ name: 'a', score: 0, isMet: false }] },
  ])
})
