import { expect, test } from 'bun:test'
import { checkPages, formatPages, type PagesFigures } from './report.ts'

const page = (list: string, ms: number) => ({ list, path: `/${list}`, ms, status: 200, items: 1 })
const figures = (...pages: PagesFigures['pages']): PagesFigures => ({
  ...{ store: 'sqlite', rows: 1000, fillSeconds: 1, indexSeconds: 1, segments: 1 },
  pages,
})

test('a list is shown by its median and by its slowest page', () => {
  const text = formatPages(figures(page('tasks', 3), page('tasks', 9), page('ledger', 1)))
  const [heading, , tasks, ledger] = text.split('\n').map((line) => line.split(/\s{2,}/))
  expect(heading).toEqual(['sqlite', 'pages', 'p50 ms', 'p99 ms', 'worst ms', 'the worst one'])
  expect(tasks).toEqual(['tasks', '2', '3', '9', '9', '/tasks'])
  expect(ledger?.slice(0, 3)).toEqual(['ledger', '1', '1'])
})

test('one page that takes too long misses the limit', () => {
  expect(checkPages(figures(page('a', 200)))[0]?.met).toBe(true)
  expect(checkPages(figures(page('a', 1), page('b', 201)))[0]?.met).toBe(false)
})
