// What the documentation names exists: every request is in the OpenAPI documents, every file is in the
// repository. And it is written in plain words.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileIn, kindOf } from '../support/docs/fences.ts'
import { fencesOf, pages, textOf } from '../support/docs/pages.ts'
import {
  filesIn,
  isRouted,
  labelsIn,
  type Named,
  pathsIn,
  requestsIn,
  vagueLinesIn,
} from '../support/docs/prose.ts'
import { adminToken, root, startGateway, type TestGateway } from '../support/gateway.ts'

/** The log of what changed speaks of names and files of its time. */
const current = pages.filter((page) => page !== 'CHANGELOG.md')
const examples = readdirSync(join(root, 'examples'))
  .map((name) => `examples/${name}`)
  .filter((path) => !path.endsWith('.md'))
const texts = [...current, ...examples].map((page) => ({ page, text: textOf(page) }))
const upgrade = 'docs/upgrade.md'

let gateway: TestGateway
/** `GET /v1/models` */
const routes: string[] = []
beforeAll(async () => {
  gateway = await startGateway({ config: '' })
  for (const path of ['/openapi.json', '/openapi.admin.json']) {
    const answer = await fetch(`${gateway.url}${path}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const { paths } = (await answer.json()) as { paths: Record<string, object> }
    for (const [each, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) routes.push(`${method.toUpperCase()} ${each}`)
    }
  }
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

/** Paths of the sandbox and of pages, which no document describes. */
const undescribed = [
  'GET /_sandbox/calls',
  'GET /_sandbox/requests',
  'GET /_sandbox/statement',
  'GET /_sandbox/tasks',
  'GET /docs',
  'GET /docs/guide',
  'GET /docs/guide/{page}',
]

function isKnown(request: string, page: string): boolean {
  const [method = '', path = ''] = request.split(' ')
  const methods = method === 'HEAD' ? ['GET', 'HEAD'] : [method]
  const known = [...routes, ...undescribed].flatMap((route) => {
    const [each = '', address = ''] = route.split(' ')
    return methods.includes(each) ? [address] : []
  })
  // Paths of its page are relative to the admin API.
  const starts = page === 'docs/run/admin-api.md' ? ['', '/admin/v1'] : ['']
  return starts.some((start) => isRouted(`${start}${path}`, known))
}

describe('the documentation', () => {
  test('names only requests that a router takes', () => {
    const named = texts.flatMap(({ page, text }) =>
      requestsIn(page, text).map((each) => ({ ...each, page })),
    )
    const unknown = named.filter(({ page, text }) => page !== upgrade && !isKnown(text, page))
    expect(unknown.map(({ place, text }) => `${place} ${text}`)).toEqual([])
    expect(named.length).toBeGreaterThan(100)
  })

  test('names only paths that a router takes', () => {
    const known = routes.map((route) => route.split(' ')[1]!)
    const named = texts.flatMap(({ page, text }) =>
      /sandbox|traces|upgrade|decisions/.test(page) ? [] : pathsIn(page, text),
    )
    const unknown = named.filter(({ text }) => !isRouted(text, known))
    expect(unknown.map(({ place, text }) => `${place} ${text}`)).toEqual([])
    expect(named.length).toBeGreaterThan(20)
  })

  test('names only files that are there', () => {
    const missing = current.flatMap((page) => {
      const made = fencesOf(page)
        .filter((fence) => kindOf(fence).endsWith(' file'))
        .map((fence) => fileIn(fence).path)
      const isThere = ({ text }: Named) =>
        existsSync(join(root, text)) ||
        existsSync(join(root, dirname(page), text)) ||
        made.some((path) => path.startsWith(text))
      return filesIn(page, textOf(page)).filter((each) => !isThere(each))
    })
    expect(missing.map(({ place, text }) => `${place} ${text}`)).toEqual([])
  })

  test('names only labels that the console has', () => {
    const messages = [...new Bun.Glob('console/**/messages.ts').scanSync(root)]
      .map(textOf)
      .join('\n')
    const named = texts.flatMap(({ page, text }) =>
      page.endsWith('.md') && page.startsWith('docs/') ? labelsIn(page, text) : [],
    )
    const unknown = named.filter(({ text }) => !messages.includes(`'${text}`))
    expect(unknown.map(({ place, text }) => `${place} ${text}`)).toEqual([])
    expect(named.length).toBeGreaterThan(10)
  })

  test('says on each page for whom it is', () => {
    const readers = /\b(callers?|operators?|finance|contributors?|auditors?)\b/i
    const silent = current.filter((page) => {
      if (!/^docs\/(?!decisions\/)/.test(page)) return false
      const opening = textOf(page).split('\n').slice(1, 8).join(' ')
      return !readers.test(opening)
    })
    expect(silent).toEqual([])
  })
})

test('every decision is in the index of decisions, once', () => {
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => /^\d/.test(name))
  const linked = textOf('docs/decisions/README.md').matchAll(/\]\((\d[^)]+)\)/g)
  expect([...linked].map((link) => link[1]!).sort()).toEqual(records.sort())
})

describe('plain words', () => {
  test('the documentation says who, not "somebody"', () => {
    const vague = texts.flatMap(({ page, text }) => vagueLinesIn(page, text))
    expect(vague.map(({ place, text }) => `${place} ${text}`)).toEqual([])
  })

  test('the glossary has only what needs explaining', () => {
    expect(textOf('docs/glossary.md').match(/^- \*\*/gm)!.length).toBeLessThanOrEqual(35)
  })
})
