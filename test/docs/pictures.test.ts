// Pictures of the documentation: they are there, small, made from what they show, and readable on light and dark
// pages. The guide, which serves texts alone, leaves them out.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pageWith, plotFiles, plotText } from '../../scripts/performance-plot.ts'
import { pages, textOf } from '../support/docs/pages.ts'
import { root } from '../support/gateway.ts'

const maxBytes = 200_000

/** Pictures that a page shows, as files of the repository. */
const shown = pages.flatMap((page) =>
  [...textOf(page).matchAll(/!\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, inText, inTag]) => inText ?? inTag!)
    .filter((address) => !address.startsWith('http'))
    .map((address) => ({ page, path: join(dirname(page), address) })),
)

test('every picture that a page shows is there, and small', () => {
  expect(shown.length).toBeGreaterThan(0)
  const missing = shown.filter(({ path }) => !existsSync(join(root, path)))
  expect(missing).toEqual([])
  const large = shown.filter(({ path }) => statSync(join(root, path)).size > maxBytes)
  expect(large).toEqual([])
})

test('drawings fit light and dark pages, and load and run nothing', () => {
  const drawings = [...new Set(shown.map(({ path }) => path))].filter((path) =>
    path.endsWith('.svg'),
  )
  expect(drawings).toContain('docs/architecture.svg')
  for (const path of drawings) {
    const text = readFileSync(join(root, path), 'utf8')
    expect(text).toContain('prefers-color-scheme: dark')
    expect(text).toMatch(/<svg [^>]*role="img" aria-label="[^"]{10,}"/)
    expect(text).not.toMatch(/<script|href=|@import|url\((?!#)/)
  }
})

describe('the plot of what a call costs', () => {
  test('is what the figures say', () => {
    for (const [path, text] of Object.entries(plotFiles())) {
      const file = join(root, path)
      const there = existsSync(file) ? readFileSync(file, 'utf8') : undefined
      expect([path, there === text]).toEqual([path, true])
    }
  })

  test('leaves out what was not measured', () => {
    const none = { nginx: null, 'Model Gateway': 0.05 }
    const some = { nginx: 0.02, 'Model Gateway': 0.05, Portkey: null, 'A & B': 5 }
    const cases = [
      { name: 'JSON', cpuMsPerCall: some },
      { name: 'stream', cpuMsPerCall: none },
    ]
    const text = plotText({ measured: 'today', cases })!
    expect(text).toContain('A &amp; B')
    expect(text).toContain('0.05 ms')
    expect(text).not.toMatch(/Portkey|stream/)
    expect(
      plotText({ measured: '', cases: [{ name: 'stream', cpuMsPerCall: none }] }),
    ).toBeUndefined()
  })

  test('stands in its place, or is not there', () => {
    const page = 'a\n<!-- plot -->\n<!-- /plot -->\nb'
    const filled = pageWith(page, 'x.svg')
    expect(filled).toContain('](x.svg)')
    expect(pageWith(filled, 'x.svg')).toBe(filled)
    expect(pageWith(filled, undefined)).toBe(page)
  })
})
