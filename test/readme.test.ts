// The README and the pages under docs stay true: what a reader would run is run here, and what they
// list is compared with the code. A fence is `run` when it can be run as it stands; `text output`
// after it holds lines that must be printed, in that order. In them `…` stands for anything.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { root, startGateway, type TestGateway } from './support/gateway.ts'

interface Fence {
  language: string
  mark: string
  text: string
  line: number
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const fencesIn = (markdown: string): Fence[] =>
  [...markdown.matchAll(/^```(\w+)(?: (\w+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1]!,
    mark: match[2] ?? '',
    text: match[3]!,
    line: markdown.slice(0, match.index).split('\n').length,
  }))

/** What differs from run to run: as it is written, and as it must look. */
const shapes: readonly [written: RegExp, looks: string][] = [
  [/\b(req|acc|tok|chn|price)_[0-9a-f]{22,32}\b/g, '$1_[0-9a-f]+'],
  [/\b(sk|admin)-[A-Za-z0-9]{20,}/g, '$1-[A-Za-z0-9]+'],
  [/\d{4}-\d\d-\d\dT[\d:]+\\\.\d+Z/g, '[\\d-]+T[\\d:.]+Z'],
  [/\b(127\\\.0\\\.0\\\.1|localhost):\d+/g, '$1:\\d+'],
  [/…/g, '.*'],
  [/ +/g, ' +'],
]

/** 'id  acc_01a1…' -> a pattern of the whole line, with any id and any number of spaces. */
function patternOf(line: string): RegExp {
  const plain = line.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const pattern = shapes.reduce((text, [written, looks]) => text.replace(written, looks), plain)
  return new RegExp(`^${pattern}$`)
}

/** The first documented line that was not printed behind those before it. */
function missingLine(documented: string, printed: string): string | undefined {
  const lines = printed.split('\n').map((line) => line.trim())
  let from = 0
  for (const line of documented.split('\n').filter((each) => each.trim() !== '')) {
    const pattern = patternOf(line)
    const found = lines.findIndex((each, index) => index >= from && pattern.test(each))
    if (found === -1) return line
    from = found + 1
  }
  return undefined
}

const readme = read('README.md')
const fences = fencesIn(readme)
const limitMs = 30_000
const hasPythonSdk = Bun.spawnSync(['sh', '-c', 'python3 -c "import openai" 2>&1']).success
if (!hasPythonSdk) {
  console.error('left out: the Python example of the README (install the Python package openai)')
}
const commands: Readonly<Record<string, (text: string) => string[]>> = {
  sh: (text) => ['sh', '-eu', '-c', text],
  ts: (text) => [join(root, 'scripts/bun'), '-e', text],
  ...(hasPythonSdk && { python: (text: string) => ['python3', '-c', text] }),
}

let gateway: TestGateway
let token = ''
let lastRequestId = ''

beforeAll(async () => {
  gateway = await startGateway({ config: '', env: { GATEWAY_ADMIN_TOKEN: '' } })
  token = /API token +(\S+)/.exec(gateway.output())?.[1] ?? ''
}, limitMs)
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
}, limitMs)

/** Runs it with this gateway's address, and with the id of the request made last. */
async function runFence({ language, text }: Fence): Promise<{ code: number; printed: string }> {
  const here = text
    .replaceAll('http://localhost:8080', gateway.url)
    .replace(/\breq_[0-9a-f]{32}\b/g, lastRequestId)
  const child = Bun.spawn(['sh', '-c', 'exec "$@" 2>&1', 'sh', ...commands[language]!(here)], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      GATEWAY_URL: gateway.url,
      GATEWAY_TOKEN: token,
      GATEWAY_DATA_DIR: gateway.dataDir,
    },
    stdout: 'pipe',
    timeout: limitMs,
  })
  const printed = await new Response(child.stdout).text()
  lastRequestId = printed.match(/\breq_[0-9a-f]{32}\b/g)?.at(-1) ?? lastRequestId
  return { code: await child.exited, printed }
}

describe('the README', () => {
  test('shows what the first start prints', () => {
    const shown = fences.find(({ mark }) => mark === 'start')
    expect(missingLine(shown!.text, gateway.output())).toBeUndefined()
  })

  const examples = fences.filter(({ mark, language }) => mark === 'run' && commands[language])
  test.each(examples.map((fence) => ({ ...fence, after: fences[fences.indexOf(fence) + 1] })))(
    'line $line: the $language example runs and prints what it says',
    async ({ after, ...fence }) => {
      const { code, printed } = await runFence(fence)
      expect({ code, printed }).toMatchObject({ code: 0 })
      if (after?.mark !== 'output') return expect(printed.trim()).not.toBe('')
      const missing = missingLine(after.text, printed)
      expect({ missing, printed }).toEqual({ missing: undefined, printed })
    },
    limitMs,
  )

  test('has a configuration that starts', async () => {
    const [file] = fences.filter(({ language, mark }) => language === 'yaml' && mark === 'run')
    const env = { CLOUD_A_KEY: 'any-upstream-key' }
    const started = await startGateway({ config: file!.text, env })
    expect(started.output()).toMatch(/API token +sk-\S+ +\(account acme, token ci;/)
    expect(await started.stop()).toBe(0)
  })

  test('lists every setting of the environment and no other', () => {
    const rows = readme.split('\n').filter((line) => line.startsWith('| `GATEWAY_'))
    const listed = rows.flatMap((row) => row.split(' | ')[0]!.match(/GATEWAY_\w+/g) ?? [])
    const known = /const variables = \[([\s\S]*?)\]/.exec(read('src/config.ts'))![1]!
    expect(listed.sort()).toEqual(known.match(/GATEWAY_\w+/g)!.sort())
  })
})

describe('the pages', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
  const all = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pages]

  test.each(all)('%s links to what is there', (page) => {
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
    const folder = readdirSync(join(root, 'src/admin')).filter((name) => !name.includes('.test.'))
    const routes = folder.flatMap((name) =>
      [
        ...read(join('src/admin', name)).matchAll(
          /\bapp\.(get|post|put|patch|delete)\(\s*'([^']+)'/g,
        ),
      ].map(([, method, path]) => `${method!.toUpperCase()} ${path!.replace(':id', '{id}')}`),
    )
    const page = read('docs/admin-api.md')
    const described = [...page.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/\S+?)`/g)]
    expect([...new Set(described.map(([, route]) => route!))].sort()).toEqual(routes.sort())
  })

  test('describe every directive of the sandbox and no other', () => {
    const known = /new Map<string, Reader>\(\[([\s\S]*?)\]\)/.exec(
      read('sandbox/directives.ts'),
    )![1]!
    const described = [...read('docs/sandbox.md').matchAll(/^\| `\[\[sim:([a-z-]+)/gm)]
    expect([...new Set(described.map(([, name]) => name!))].sort()).toEqual(
      [...known.matchAll(/\['([a-z-]+)'/g)].map(([, name]) => name!).sort(),
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
