import { expect, test } from 'bun:test'
import { formatPages, judgePages, type PageFigures, wholeOf } from './report.ts'

const visited = (wholeMs: number) => ({
  shownMs: wholeMs / 2,
  wholeMs,
  slowest: 'GET /tasks',
  slowestMs: wholeMs / 4,
})
const page = (name: string, ...wholes: number[]): PageFigures => ({
  name,
  visits: wholes.map(visited),
})

test('a page is as fast as its middle visit', () => {
  expect(wholeOf(page('a', 3_000, 400, 500))).toBe(500)
})

test('the slowest page decides', () => {
  const fast = page('fast', 300, 300, 300)
  const [good] = judgePages([fast, page('less', 2_000, 999, 900)], 1_000_000)
  expect(good).toMatchObject({ met: true, measured: '1.00 s, less' })
  const [bad] = judgePages([page('slow', 1_000, 1_000, 1_000), fast], 1_000_000)
  expect(bad).toMatchObject({ met: false, measured: '1.00 s, slow' })
  expect(judgePages([], 10)[0]!.met).toBe(false)
})

test('the table shows every page with its slowest call', () => {
  const text = formatPages([page('overview', 400, 800, 600)])
  expect(text).toMatch(/overview +300 +600 +800 +200 +GET \/tasks/)
})
