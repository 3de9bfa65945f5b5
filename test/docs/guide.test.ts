// The pages for callers stay true: every example is run against one gateway, in the order of the pages,
// and what they list is compared with the code. All of docs is served, with unique names of pages.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { referenceText } from '../../scripts/config-reference.ts'
import { refusals } from '../../src/contract/errors.ts'
import { examplesIn, kindOf, type Stage } from '../support/docs/fences.ts'
import { pages as allPages, fencesOf, textOf } from '../support/docs/pages.ts'
import { tryExample } from '../support/docs/stages.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

/** Pages whose examples another test runs. */
const elsewhere = /^docs\/use\/(callbacks|coding-tools|openapi|sandbox)\.md$/
const pages = allPages.filter((page) => page.startsWith('docs/use/') && !elsewhere.test(page))
const configuration = 'docs/run/configuration.md'

/** Tables are written for the eye; their columns are as wide as what is in them. */
const unpadded = (text: string): string =>
  text
    .replace(/ +/g, ' ')
    .replace(/-{3,}/g, '---')
    .replace(/\n{2,}/g, '\n\n')
    .trim()

const all = pages.flatMap((page) => fencesOf(page).map((fence) => ({ ...fence, page })))
const examples = pages.flatMap((page) =>
  examplesIn(fencesOf(page), ['run']).map((example) => ({ ...example, page })),
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
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

describe('the guide', () => {
  test.each(examples)(
    '$page, line $line: the $language example runs and prints what it says',
    ({ page: _, ...example }) => tryExample(stage, example),
  )

  test('has no code that is not run', () => {
    const known = ['sh run', 'ts run', 'python run', 'text output']
    const others = all.filter((fence) => !known.includes(kindOf(fence)))
    expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([])
    expect(examples.length).toBeGreaterThan(15)
  })

  test('has every setting, as the code has it', () => {
    expect(unpadded(textOf(configuration))).toBe(unpadded(referenceText()))
  })

  test('has every error code with its status', () => {
    const rows = [...textOf('docs/use/errors.md').matchAll(/^\| (\d{3}) +\| ([^|]+) \|/gm)]
    const listed = rows.flatMap(([, status, codes]) =>
      [...codes!.matchAll(/`(\w+)`/g)].map(([, code]) => `${code} ${status}`),
    )
    const known = Object.entries(refusals).map(([code, { status }]) => `${code} ${status}`)
    expect(listed.sort()).toEqual(known.sort())
  })

  test('is served, and every link and anchor on its pages leads somewhere', async () => {
    const seen = new Map<string, string>()
    const anchors: string[] = []
    const others = new Set<string>()
    const waiting = ['/docs/guide']
    while (waiting.length > 0) {
      const path = waiting.pop()!
      if (seen.has(path)) continue
      const answer = await fetch(`${gateway.url}${path}`)
      expect({ path, status: answer.status }).toEqual({ path, status: 200 })
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      const html = await answer.text()
      seen.set(path, html)
      // Scripts, styles and pictures are the gateway's own.
      const loaded = [...html.matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="([^"]*)"/g)]
      expect(
        loaded.map(([, from]) => from!).filter((from) => !from.startsWith('/docs/assets/')),
      ).toEqual([])
      expect(html).not.toMatch(/<script>|\bon\w+="|style="/)
      // What a block is for, besides its language, is for the tests.
      expect(html.match(/<code class="(?!language-\w+")[^>]*>/g)).toBeNull()
      const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!)
      for (const href of links) {
        expect(href).not.toMatch(/\.md\b/)
        expect(href).toMatch(/^(https?:|[/#])/)
        const target = new URL(href, `${gateway.url}${path}`)
        if (target.origin !== gateway.url) continue
        if (target.pathname.startsWith('/docs/guide')) waiting.push(target.pathname)
        else others.add(target.pathname)
        if (target.hash !== '') anchors.push(target.pathname + target.hash)
      }
    }
    for (const path of others) {
      const { status } = await fetch(`${gateway.url}${path}`)
      expect({ path, status }).toEqual({ path, status: 200 })
    }
    expect(seen.size).toBeGreaterThan(20)
    const lost = anchors.filter((href) => {
      const [path = '', id = ''] = href.split('#')
      return seen.has(path) && !seen.get(path)!.includes(`id="${decodeURIComponent(id)}"`)
    })
    expect(lost).toEqual([])
    // Examples can be pasted as they are. Pages of providers name the servers of providers.
    const strange = [...seen].filter(
      ([path, html]) => !path.includes('/providers-') && html.includes('http://localhost:8080'),
    )
    expect(strange.map(([path]) => path)).toEqual([])
    expect(seen.get('/docs/guide/quick-start')).toContain(`${gateway.url}/v1/chat/completions`)
    expect((await fetch(`${gateway.url}/docs/guide/nothing`)).status).toBe(404)
  })

  test('has a table of contents that names every page', () => {
    const served = allPages.filter((page) => /^docs\/(?!decisions\/)/.test(page))
    const first = textOf('docs/README.md')
    const forgotten = served.filter(
      (page) => page !== 'docs/README.md' && !first.includes(`(${page.slice('docs/'.length)})`),
    )
    expect(forgotten).toEqual([])
  })

  test('has pages whose names are unique, because a name is an address', () => {
    const names = allPages
      .filter((page) => page.startsWith('docs/'))
      .map((page) => page.split('/').at(-1)!)
      .filter((name) => name !== 'README.md')
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})
