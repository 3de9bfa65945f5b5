// Every code block of the documentation is checked by some test, and says by a word behind its
// language by which way. Those that need nothing but a gateway are checked here.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readConfigFile } from '../../src/config/file.ts'
import { differences } from '../support/docs/answers.ts'
import { examplesIn, kindOf, missingLine } from '../support/docs/fences.ts'
import { fencesOf, pages, textOf } from '../support/docs/pages.ts'
import { stageOf, tryExample } from '../support/docs/stages.ts'
import { adminToken, apiToken, root, startGateway, type TestGateway } from '../support/gateway.ts'
import { requestIdOf, until } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

/** Which test checks which kinds of code of which pages. */
const checks: readonly [test: string, pages: RegExp, kinds: RegExp][] = [
  ['docs/code-blocks.test.ts', /^docs\/run\/console\.md$/, /^text start$/],
  ['docs/code-blocks.test.ts', /^docs\/run\/deploy\.md$/, /^(sh fails|text output)$/],
  ['docs/code-blocks.test.ts', /^docs\/run\/metrics\.md$/, /^yaml scrape$/],
  ['docs/code-blocks.test.ts', /^docs\/use\/openapi\.md$/, /^(sh run|ts run|text output)$/],
  [
    'docs/code-blocks.test.ts',
    /^docs\/(run\/(operations|channels|results|notices|virtual-models|real-providers)|money\/(budgets|costs|reconciliation|tags))\.md$/,
    /^(yaml config|json log)$/,
  ],
  ['docs/code-blocks.test.ts', /^docs\/contribute\/simulation\.md$/, /^(sh run|text output)$/],
  ['tasks/callbacks.test.ts', /^docs\/use\/callbacks\.md$/, /^(js|python) verify$/],
  ['docs/adding.test.ts', /^docs\/adding-a-\w+\.md$/, /^ts file$/],
  ['docs/admin.test.ts', /^docs\/run\/admin-api\.md$/, /^(sh run|json (?!alert|bill)\w+)$/],
  ['docs/altered.test.ts', /^docs\/run\/admin-api\.md$/, /^json alert$/],
  ['docs/altered.test.ts', /^docs\/money\/audit\.md$/, /^sh fails$/],
  ['docs/bills.test.ts', /^docs\/run\/admin-api\.md$/, /^json bill$/],
  ['docs/bills.test.ts', /^docs\/money\/bills\.md$/, /^(sh run|text output)$/],
  [
    'docs/money.test.ts',
    /^docs\/(money\/(charges|prices|audit)|run\/backup)\.md$/,
    /^(sh run|sh start|text output|yaml file|csv prices)$/,
  ],
  ['coding-tools/coding-tools.test.ts', /^docs\/use\/coding-tools\.md$/, /^sh tool$/],
  ['docs/rehearsed.test.ts', /./, /^sh rehearse$/],
  ['docs/rehearsed.test.ts', /^docs\/run\/deploy\.md$/, /^yaml file$/],
  [
    'docs/sandbox.test.ts',
    /^docs\/use\/sandbox\.md$/,
    /^(sh start|text output|json \w+|text (video|image))$/,
  ],
  ['docs/upgrade.test.ts', /^docs\/upgrade\.md$/, /^sh run$/],
  [
    'docs/guide.test.ts',
    /^docs\/use\/(?!callbacks|coding-tools|openapi|sandbox)/,
    /^((sh|ts|python) run|text output)$/,
  ],
  ['docs/readme.test.ts', /^README\.md$/, /^((sh|ts|python|yaml) run|text (output|start))$/],
  [
    'money/reconciliation.test.ts',
    /^docs\/money\/reconciliation\.md$/,
    /^(csv november|sh run|text output)$/,
  ],
]

const all = pages.flatMap((page) =>
  fencesOf(page).map((fence) => ({ ...fence, page, kind: kindOf(fence) })),
)
const of = (page: string, kind: string) => {
  const found = all.filter((fence) => fence.page === page && fence.kind === kind)
  expect([page, kind, found.length > 0]).toEqual([page, kind, true])
  return found
}

describe('the code in the documentation', () => {
  test('is checked, each block of it by one test', () => {
    expect(pages.length).toBeGreaterThan(60)
    const claims = all.map(({ page, line, kind }) => {
      const tests = checks.filter(([, where, what]) => where.test(page) && what.test(kind))
      return { place: `${page}:${line} '${kind}'`, tests: tests.length }
    })
    expect(claims.filter(({ tests }) => tests !== 1)).toEqual([])
    expect(claims.length).toBeGreaterThan(150)
  })

  test('is where the tests that check it look for it', () => {
    for (const [name, where, what] of checks) {
      expect([name, existsSync(join(root, 'test', name))]).toEqual([name, true])
      const isUsed = all.some(({ page, kind }) => where.test(page) && what.test(kind))
      expect([where, what, isUsed]).toEqual([where, what, true])
    }
  })

  test('stands in fences that are closed, at the start of a line', () => {
    for (const page of pages) {
      const marks = textOf(page).match(/^ *(?:```|~~~).*$/gm) ?? []
      expect([page, marks.length]).toEqual([page, 2 * fencesOf(page).length])
    }
  })

  test('shows output right behind what printed it', () => {
    const runs = /^(sh|ts|python) (run|fails|start)$/
    const lost = all.filter(({ kind, page }, at) => {
      const before = all[at - 1]
      return kind === 'text output' && !(before?.page === page && runs.test(before.kind))
    })
    expect(lost.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })
})

describe('a configuration in the documentation', () => {
  const configurations = all.filter(({ kind }) => ['yaml config', 'yaml run'].includes(kind))

  test.each(configurations)('$page, line $line: is taken', ({ page, text }) => {
    expect(parse(text)).toBeObject()
    const env = Object.fromEntries(
      [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'any-secret-of-yours']),
    )
    expect(readConfigFile(text, page, env).problems).toEqual([])
  })
})

/** The generator as a library: its command would load the newer compiler that this repository has. */
const generator = `
curl -sS "$1" -o "\${3%.d.ts}.json"
scripts/bun test/support/openapi/generate-types.ts "\${3%.d.ts}.json"
echo "$3"
`

describe('on a gateway,', () => {
  let gateway: TestGateway
  let upstream: TestUpstream
  let config: string
  beforeAll(async () => {
    // It refuses to list its models, and never answers a call.
    upstream = startUpstream(({ path }) =>
      path.endsWith('/models') ? jsonReply({}, { status: 401 }) : new Promise(() => {}),
    )
    config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: ci, token: ${apiToken} }]
channels:
  - name: cloud-a
    keys: [any-upstream-key]
    protocols: { chat: "${upstream.chat}" }
    models: { txta-turbo: "*", house-writer: "*" }
    timeouts: { first_byte: 1s }
models: [{ name: house-writer, kind: text, interfaces: [chat] }]
`
    gateway = await startGateway({ config, env: { GATEWAY_SANDBOX: 'on' } })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await upstream.stop()
  })

  test('docs/run/console.md shows what a start prints', () => {
    const [shown] = of('docs/run/console.md', 'text start')
    expect(missingLine(shown!.text, gateway.output())).toBeUndefined()
  })

  test('docs/run/metrics.md shows how it is scraped', async () => {
    const [shown] = of('docs/run/metrics.md', 'yaml scrape')
    const { scrape_configs } = parse(shown!.text)
    expect(scrape_configs).toHaveLength(1)
    const {
      job_name,
      metrics_path = '/metrics',
      scheme = 'http',
      authorization,
      static_configs,
      ...others
    } = scrape_configs[0]
    expect(Object.keys(authorization)).toEqual(['credentials_file'])
    expect({ job_name, scheme, others }).toEqual({
      job_name: 'model-gateway',
      scheme: 'http',
      others: {},
    })
    const [target] = static_configs[0].targets as string[]
    const here = `http://${target}${metrics_path}`.replace(
      'http://gateway.internal:8080',
      gateway.url,
    )
    // From another machine, as Prometheus would be.
    const scraped = await fetch(here, {
      headers: { authorization: `Bearer ${adminToken}`, 'x-forwarded-for': '203.0.113.9' },
    })
    expect(await scraped.text()).toMatch(/^gateway_info\{.*\} 1$/m)
  })

  test('docs/run/operations.md shows a line of the log', async () => {
    const messages = [{ role: 'user', content: 'Hello!' }]
    const asked = await gateway.post('/v1/chat/completions', { model: 'txta-turbo', messages })
    expect(asked.status).toBe(504)
    const line = await until('the line', () =>
      gateway
        .output()
        .split('\n')
        .find((each) => each.includes(requestIdOf(asked))),
    )
    const [shown] = of('docs/run/operations.md', 'json log')
    expect(differences(JSON.parse(shown!.text), JSON.parse(line))).toEqual([])
  })

  test('docs/run/deploy.md shows what the doctor says', async () => {
    const page = 'docs/run/deploy.md'
    const [example] = examplesIn(fencesOf(page), ['fails'])
    const stage = stageOf(gateway, page)
    writeFileSync(join(stage.cwd, 'gateway.yaml'), config)
    stage.names.set('https://up.example', upstream.url)
    const env = { ...stage.env, GATEWAY_PORT: new URL(gateway.url).port, GATEWAY_SANDBOX: 'on' }
    await tryExample({ ...stage, env }, example!)
  })

  test.each(examplesIn(fencesOf('docs/contribute/simulation.md'), ['run']))(
    'docs/contribute/simulation.md, line $line: the example runs',
    async (example) => {
      await tryExample(stageOf(gateway, 'docs/contribute/simulation.md'), example)
    },
  )

  test('docs/use/openapi.md shows how a client is made, which compiles and asks', async () => {
    const page = 'docs/use/openapi.md'
    const stage = stageOf(gateway, page, apiToken)
    writeFileSync(join(stage.cwd, 'generate'), generator)
    stage.names.set('npx openapi-typescript', 'sh ./generate')
    for (const example of examplesIn(fencesOf(page), ['run'])) await tryExample(stage, example)
    const [program] = of(page, 'ts run')
    writeFileSync(join(stage.cwd, 'client.ts'), program!.text)
    const types = [join(root, 'node_modules/@types/bun')]
    const settings = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { types },
      include: [],
      files: ['client.ts'],
    }
    writeFileSync(join(stage.cwd, 'tsconfig.client.json'), JSON.stringify(settings))
    const child = Bun.spawn([join(root, 'node_modules/.bin/tsc'), '-p', 'tsconfig.client.json'], {
      cwd: stage.cwd,
      stdout: 'pipe',
    })
    const said = await new Response(child.stdout).text()
    expect({ said, code: await child.exited }).toEqual({ said: '', code: 0 })
  })
})
