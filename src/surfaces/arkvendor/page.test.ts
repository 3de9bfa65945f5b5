import { expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import { pageIn } from './page.ts'

const read = (query: string) => {
  const page = pageIn(new URLSearchParams(query))
  return page instanceof Refusal ? page.extras.param : page
}

test('a page is the first twenty unless something else is asked for', () => {
  expect(read('')).toEqual({ limit: 20, offset: 0 })
  expect(read('page_num=3&page_size=5')).toEqual({ limit: 5, offset: 10 })
  expect(read('page_num=&filter.status=&filter.model=')).toEqual({ limit: 20, offset: 0 })
})

test('filters are a status, a model, and ids given in either way', () => {
  expect(read('filter.status=queued')).toMatchObject({
    states: ['accepted', 'unknown', 'queued'],
  })
  expect(read('filter.model=m')).toMatchObject({ model: 'm' })
  const ids = { ids: ['a', 'video_b', 'c'] }
  expect(read('filter.task_ids=a&filter.task_ids=video_b&filter.task_ids=c')).toMatchObject(ids)
  expect(read('filter.task_ids=a,video_b&filter.task_ids=c')).toMatchObject(ids)
})

test.each([
  ['page_num=0', 'page_num'],
  ['page_num=501', 'page_num'],
  ['page_num=x', 'page_num'],
  ['page_size=-1', 'page_size'],
  ['page_size=501', 'page_size'],
  ['filter.status=expired', 'filter.status'],
  ['filter.status=constructor', 'filter.status'],
  [`filter.task_ids=${'a,'.repeat(501)}`, 'filter.task_ids'],
])('%s is refused', (query, param) => {
  expect(read(query)).toBe(param)
})
