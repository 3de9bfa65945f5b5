// The README and the pages under docs stay true: what a reader would run is run here, and what they
// list is compared with the code. A fence is `run` when it can be run as it stands; `text output`
// after it holds lines that must be printed, in that order. In them `…` stands for anything.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { adminRoutes } from '../../src/admin/routes.ts'
import { examplesIn, fencesIn, missingLine, type Stage } from '../support/docs/fences.ts'
import { pages } from '../support/docs/pages.ts'
import { tryExample } from '../support/docs/stages.ts'
import { root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const readme = read('README.md')
const fences = fencesIn(readme)

let gateway: TestGateway
let stage: Stage

beforeAll(async () => {
  gateway = await startGateway({ config: '', env: { GATEWAY_ADMIN_TOKEN: '' } })
  const token = /API token +(\S+)/.exec(gateway.output())?.[1] ?? ''
  stage = { url: gateway.url, token, dataDir: gateway.dataDir, lastIds: new Map() }
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

describe('the README', () => {
  test('shows what the first start prints', () => {
    const shown = fences.find(({ mark }) => mark === 'start')
    expect(missingLine(shown!.text, gateway.output())).toBeUndefined()
  })

  test.each(examplesIn(fences, ['run']))(
    'line $line: the $language example runs and prints what it says',
    (example) => tryExample(stage, example),
  )

  test('says how its TypeScript example runs, and Node runs it so', async () => {
    const [example] = fences.filter(({ language, mark }) => language === 'ts' && mark === 'run')
    const dir = tempDir()
    writeFileSync(
      join(dir, 'hello.mjs'),
      example!.text.replaceAll('http://localhost:8080', gateway.url),
    )
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
    const run = Bun.spawn(['node', 'hello.mjs'], {
      cwd: dir,
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...ownEnv, GATEWAY_TOKEN: stage.token },
    })
    const [out, err] = [
      await new Response(run.stdout).text(),
      await new Response(run.stderr).text(),
    ]
    expect([await run.exited, err]).toEqual([0, ''])
    expect(out).toContain('The baker hums a tune')
  })

  test('has a configuration that starts', async () => {
    const [file] = fences.filter(({ language, mark }) => language === 'yaml' && mark === 'run')
    const env = { CLOUD_A_KEY: 'any-upstream-key' }
    const started = await startGateway({ config: file!.text, env })
    expect(started.output()).toMatch(/API token +sk-\S+ +\(account acme, token ci;/)
    expect(await started.stop()).toBe(0)
  })

  test('has at most 1,200 words before its tables', () => {
    const [story = ''] = readme.split('\n## What is included')
    expect(story.length).toBeLessThan(readme.length)
    expect(story.split(/\s+/).length).toBeLessThanOrEqual(1_200)
  })
})

describe('the pages', () => {
  test('list every setting of the environment and no other, in one place', () => {
    const rowsOf = (page: string): string[] =>
      read(page)
        .split('\n')
        .filter((line) => line.startsWith('| `GATEWAY_'))
    const listed = rowsOf('docs/run/configuration.md').flatMap(
      (row) => row.split(' | ')[0]!.match(/GATEWAY_\w+/g) ?? [],
    )
    const known = /const variables = \[([\s\S]*?)\]/.exec(read('src/config/index.ts'))![1]!
    expect(listed.sort()).toEqual(known.match(/GATEWAY_\w+/g)!.sort())
    expect(rowsOf('README.md')).toEqual([])
  })

  test.each([...pages])('%s links to what is there', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)]
    const broken = links.filter(([, path = '', anchor]) => {
      if (/^https?:/.test(path)) return false
      const target = path === '' ? join(root, page) : resolve(root, dirname(page), path)
      if (!existsSync(target)) return true
      return anchor !== undefined && !anchorsIn(readFileSync(target, 'utf8')).includes(anchor)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  test('describe every route of the admin API and no other', () => {
    const routes = adminRoutes.map(
      ({ method, path }) => `${method.toUpperCase()} ${path.replace(':id', '{id}')}`,
    )
    const page = read('docs/run/admin-api.md')
    const described = [...page.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/\S+?)`/g)]
    expect([...new Set(described.map(([, route]) => route!))].sort()).toEqual(routes.sort())
  })

  test('describe every directive of the sandbox and no other', () => {
    const known = /new Map<string, Reader>\(\[([\s\S]*?)\]\)/.exec(
      read('sandbox/http/directives.ts'),
    )![1]!
    const described = [...read('docs/use/sandbox.md').matchAll(/^\| `\[\[sim:([a-z-]+)/gm)]
    // A script of tool calls has a value of its own form.
    const script = /\[\[sim:([a-z]+)=/.exec(read('sandbox/text/tool-script.ts'))![1]!
    expect([...new Set(described.map(([, name]) => name!))].sort()).toEqual(
      [...[...known.matchAll(/\['([a-z-]+)'/g)].map(([, name]) => name!), script].sort(),
    )
  })
})

/** '## In the box' -> 'in-the-box' */
const anchorsIn = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
