// The guide stays true: every example in it is run against one gateway, in the order of its pages, and
// what it lists is compared with the code. There is no fence in it that is not checked.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { referenceText } from '../../scripts/config-reference.ts'
import { refusals } from '../../src/contract/errors.ts'
import { examplesIn, fencesIn, kindOf, type Stage } from '../support/docs/fences.ts'
import { tryExample } from '../support/docs/stages.ts'
import { root, startGateway, type TestGateway } from '../support/gateway.ts'

const limitMs = 60_000
const folder = join(root, 'docs/guide')
const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .sort()
const read = (page: string): string => readFileSync(join(folder, page), 'utf8')

/** Tables are written for the eye; their columns are as wide as what is in them. */
const unpadded = (text: string): string =>
  text
    .replace(/ +/g, ' ')
    .replace(/-{3,}/g, '---')
    .replace(/\n{2,}/g, '\n\n')
    .trim()

const all = pages.flatMap((page) => fencesIn(read(page)).map((fence) => ({ ...fence, page })))
const examples = pages.flatMap((page) =>
  examplesIn(fencesIn(read(page)), ['run']).map((example) => ({ ...example, page })),
)

let gateway: TestGateway
let stage: Stage
beforeAll(async () => {
  gateway = await startGateway({
    config: '',
    env: { GATEWAY_ADMIN_TOKEN: '', GATEWAY_SANDBOX_TASK_SECONDS: '1' },
  })
  const token = /API token +(\S+)/.exec(gateway.output())?.[1] ?? ''
  const asked = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const lastIds = new Map([['req', asked.headers.get('x-request-id') ?? '']])
  stage = { url: gateway.url, token, dataDir: gateway.dataDir, lastIds }
}, limitMs)
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
}, limitMs)

describe('the guide', () => {
  test.each(examples)(
    '$page, line $line: the $language example runs and prints what it says',
    ({ page: _, ...example }) => tryExample(stage, example),
    limitMs,
  )

  test('has no code that is not run', () => {
    const known = ['sh run', 'ts run', 'python run', 'text output', 'yaml config']
    const others = all.filter((fence) => !known.includes(kindOf(fence)))
    expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([])
    expect(examples.length).toBeGreaterThan(15)
  })

  test('has configurations that are accepted', async () => {
    const configurations = all.filter(({ mark }) => mark === 'config')
    expect(configurations.length).toBeGreaterThan(0)
    for (const { text } of configurations) {
      expect(parse(text)).toBeObject()
      const env = { CLOUD_A_KEY: 'any-upstream-key' }
      const started = await startGateway({ config: text, env })
      expect(await started.stop()).toBe(0)
    }
  })

  test('has every setting, as the code has it', () => {
    expect(unpadded(read('configuration.md'))).toBe(unpadded(referenceText()))
  })

  test('has every error code with its status', () => {
    const rows = [...read('errors.md').matchAll(/^\| (\d{3}) +\| ([^|]+) \|/gm)]
    const listed = rows.flatMap(([, status, codes]) =>
      [...codes!.matchAll(/`(\w+)`/g)].map(([, code]) => `${code} ${status}`),
    )
    const known = Object.entries(refusals).map(([code, { status }]) => `${code} ${status}`)
    expect(listed.sort()).toEqual(known.sort())
  })

  test('is served, and its pages lead only to pages that are there', async () => {
    const seen = new Set<string>()
    const waiting = ['/docs/guide']
    while (waiting.length > 0) {
      const path = waiting.pop()!
      if (seen.has(path)) continue
      seen.add(path)
      const answer = await fetch(`${gateway.url}${path}`)
      expect({ path, status: answer.status }).toEqual({ path, status: 200 })
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      const html = await answer.text()
      expect(html).not.toContain('<script')
      // What a block is for, besides its language, is for the tests.
      expect(html.match(/<code class="(?!language-\w+")[^>]*>/g)).toBeNull()
      const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!)
      for (const href of links) {
        expect(href).not.toMatch(/\.md\b/)
        if (href.startsWith('/docs/guide')) waiting.push(href.split('#')[0]!)
      }
    }
    expect(seen.size).toBeGreaterThan(20)
    expect((await fetch(`${gateway.url}/docs/guide/nothing`)).status).toBe(404)
  })

  test('names every one of its pages on its first', () => {
    const first = read('README.md')
    const forgotten = pages.filter((page) => page !== 'README.md' && !first.includes(`(${page})`))
    expect(forgotten).toEqual([])
  })
})
