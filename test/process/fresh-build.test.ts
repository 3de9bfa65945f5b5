// scripts/fresh-build, in a small clone whose build writes one file: when a build is used again, when it is
// made anew, and what happens where none can be made.
import { beforeEach, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const build = '#!/bin/sh\n[ -f src/broken ] && exit 1\necho built >"$2/gateway.js"\n'
let clone: string

function put(path: string, text = ''): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true })
  writeFileSync(join(clone, path), text, { mode: 0o755 })
}

beforeEach(() => {
  clone = tempDir()
  put('scripts/bun', build)
  put('src/main.ts')
  put('docs/page.md')
  cpSync(join(root, 'scripts/fresh-build'), join(clone, 'scripts/fresh-build'))
})

function freshBuild(): string {
  const { stdout } = Bun.spawnSync([join(clone, 'scripts/fresh-build')], { env: ownEnv })
  return stdout.toString().trim()
}

const change = (path: string): void => {
  const later = new Date(Date.now() + 1_000)
  utimesSync(join(clone, path), later, later)
}

test('a build is used as long as no source is newer', () => {
  const first = freshBuild()
  expect(readdirSync(first)).toContain('gateway.js')
  expect(freshBuild()).toBe(first)
})

test('a source that was changed, added or removed makes a new one; the one before stays', () => {
  const first = freshBuild()
  change('docs/page.md')
  const second = freshBuild()
  expect(second).not.toBe(first)
  expect(readdirSync(first)).toContain('gateway.js')
  rmSync(join(clone, 'docs/page.md'))
  change('docs')
  expect(freshBuild()).not.toBe(second)
})

test('a build that fails leaves nothing and is not used', () => {
  put('src/broken')
  expect(freshBuild()).toBe('')
  expect(readdirSync(join(clone, 'dist'))).toEqual([])
})

test('where nothing can be written there is no build', () => {
  put('dist')
  expect(freshBuild()).toBe('')
})

test('builds that are older than a day are removed', () => {
  const first = freshBuild()
  change('src/main.ts')
  const second = freshBuild()
  const old = new Date(Date.now() - 49 * 3_600_000)
  utimesSync(first, old, old)
  change('src/main.ts')
  const third = freshBuild()
  expect(readdirSync(join(clone, 'dist')).sort()).toEqual(
    ['newest', ...[second, third].map((path) => path.split('/').at(-1)!)].sort(),
  )
})
