import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { menuPaths } from './pages.ts'
import { checkPages, formatPages, loadedMsOf, type PageFigures } from './report.ts'

const root = join(import.meta.dir, '../..')

const visited = (loadedMs: number) => ({
  shownMs: loadedMs / 2,
  loadedMs,
  slowest: 'GET /tasks',
  slowestMs: loadedMs / 4,
})
const page = (name: string, ...loads: number[]): PageFigures => ({
  name,
  visits: loads.map(visited),
})

test('a page is as fast as its middle visit', () => {
  expect(loadedMsOf(page('a', 3_000, 400, 500))).toBe(500)
})

test('the slowest page decides', () => {
  const fast = page('fast', 300, 300, 300)
  const [good] = checkPages([fast, page('less', 2_000, 999, 900)], 1_000_000)
  expect(good).toMatchObject({ met: true, value: '1.00 s (less)' })
  const [bad] = checkPages([page('slow', 1_000, 1_000, 1_000), fast], 1_000_000)
  expect(bad).toMatchObject({ met: false, value: '1 s (slow)' })
  expect(checkPages([], 10)[0]!.met).toBe(false)
})

test('the first visit has a verdict of its own', () => {
  const [, first] = checkPages([page('slow at first', 1_700, 300, 300)], 1_000_000)
  expect(first).toMatchObject({ met: false, value: '1.70 s (slow at first)' })
})

test('the table shows every page with its slowest call', () => {
  const text = formatPages([page('overview', 400, 800, 600)])
  expect(text).toMatch(/overview +300 +600 +400 +800 +200 +GET \/tasks/)
})

test('every page of the menu is visited', () => {
  const source = readFileSync(join(root, 'console/navigation.ts'), 'utf8')
  const paths = [...source.matchAll(/^ +path: '([^']+)'/gm)].map(([, path]) => path)
  expect(paths.length).toBeGreaterThan(10)
  expect(menuPaths).toEqual(paths as string[])
})
