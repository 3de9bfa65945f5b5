// What a stranger would do: take the served documents, generate a client from them, write a program with it,
// and ask every interface; in TypeScript, and in Python and Go where their generators are installed.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  adminToken,
  apiToken,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { python } from '../support/python.ts'

const limitMs = 60_000
/** Compiling two generated clients is slow. */
const goLimitMs = 300_000
const programs = join(root, 'test/api/openapi-client')
const program = join(programs, 'client.ts')
const documents = { data: '/openapi.json', admin: '/openapi.admin.json' } as const

interface Program {
  askEverything(place: {
    url: string
    token: string
    adminToken: string
  }): Promise<Record<string, { status: number; data: unknown }>>
}

let gateway: TestGateway
let dir: string

beforeAll(async () => {
  gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
  dir = tempDir()
  for (const [name, path] of Object.entries(documents)) {
    await Bun.write(join(dir, `${name}.json`), await fetch(`${gateway.url}${path}`))
  }
}, limitMs)
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
}, limitMs)

interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  timeoutMs?: number
}

async function run(
  command: readonly string[],
  { cwd = root, env = {}, timeoutMs = limitMs }: RunOptions = {},
): Promise<{ code: number; said: string }> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...ownEnv, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: timeoutMs,
  })
  const [said, failed] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, said: said + failed }
}

const done = { code: 0, said: '' }

/** The types of both documents, where the program looks for them. */
async function generateTypes(): Promise<string> {
  const files = Object.keys(documents).map((name) => join(dir, `${name}.json`))
  const script = 'test/support/openapi/generate-types.ts'
  expect(await run(['scripts/bun', script, ...files])).toEqual(done)
  const paths = { '#data': [join(dir, 'data.d.ts')], '#admin': [join(dir, 'admin.d.ts')] }
  const settings = join(dir, 'tsconfig.json')
  const compilerOptions = { paths, types: [join(root, 'node_modules/@types/bun')] }
  const own = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include: [],
    files: [program],
  }
  writeFileSync(settings, JSON.stringify(own))
  return settings
}

test(
  'a program compiles with the generated types and asks every interface',
  async () => {
    const settings = await generateTypes()
    expect(await run(['node_modules/.bin/tsc', '-p', settings])).toEqual(done)
    // Named at run time: the repository's own check does not know the generated types.
    const { askEverything } = (await import(program)) as Program
    const outcomes = await askEverything({ url: gateway.url, token: apiToken, adminToken })
    expect(Object.entries(outcomes).filter(([, { status }]) => status !== 200)).toEqual([])
    expect(Object.keys(outcomes).length).toBeGreaterThan(25)
    expect(outcomes['chat stream']?.data).toContain('data: [DONE]')
    const { data: film } = outcomes['video file']!
    expect((film as ArrayBuffer).byteLength).toBeGreaterThan(1_000)
    expect(outcomes['balance']?.data).toMatch(/^\d+\.\d+$/)
  },
  limitMs,
)

const place = () => [gateway.url, apiToken, adminToken]

/** What a program printed: an outcome for every call. */
function outcomesIn({ code, said }: { code: number; said: string }): [string, unknown][] {
  if (code !== 0) throw new Error(said)
  return Object.entries(JSON.parse(said) as Record<string, unknown>)
}

const generator = 'openapi_python_client'
if (python.has(generator)) {
  test(
    'a client in Python has every operation, and a program with it asks every interface',
    async () => {
      // Files of any type are bytes; the generator knows some types only.
      const types = [
        ...['video/mp4', 'image/png', 'image/jpeg', 'image/webp', 'image/gif'],
        ...['application/gzip', 'application/yaml', 'text/csv'],
      ]
      const bytes = types.map((type) => [type, 'application/octet-stream'])
      const settings = { post_hooks: [], content_type_overrides: Object.fromEntries(bytes) }
      const config = join(dir, 'python.json')
      writeFileSync(config, JSON.stringify(settings))
      for (const [name, folder] of [
        ['data', 'gateway_client'],
        ['admin', 'admin_client'],
      ] as const) {
        const words = ['--meta', 'none', '--path', join(dir, `${name}.json`), '--config', config]
        const out = ['--output-path', join(dir, folder)]
        const command = [python.program, '-m', generator, 'generate', ...words, ...out]
        const { code, said } = await run(command, { cwd: dir })
        // It warns of what it leaves out.
        expect([code, said.match(/WARNING[^\n]*|ERROR[^\n]*/g) ?? []]).toEqual([0, []])
      }
      const command = [python.program, join(programs, 'client.py'), ...place()]
      const outcomes = outcomesIn(await run(command, { cwd: dir, env: { PYTHONPATH: dir } }))
      const isGood = ([, outcome]: [string, unknown]) => {
        const [status, type] = outcome as [number, string]
        return (status === 200 || status === 201) && type !== 'NoneType'
      }
      expect(outcomes.filter((each) => !isGood(each))).toEqual([])
      expect(outcomes.length).toBeGreaterThan(30)
    },
    limitMs * 2,
  )
} else python.sayLeftOut('a client in Python', generator)

const goGenerator = process.env['TEST_OAPI_CODEGEN'] ?? Bun.which('oapi-codegen')
/** Where Go keeps modules, and where it gets them from. */
const goEnv = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    /^(?:HOME|GO[A-Z]+|SSL_CERT_FILE|HTTPS?_PROXY)$/.test(name) ? [[name, value ?? '']] : [],
  ),
)
const goRuntime = 'github.com/oapi-codegen/runtime v1.8.0'
if (goGenerator !== null && Bun.which('go') !== null) {
  test(
    'a client in Go compiles, and a program with it asks every interface',
    async () => {
      const home = join(dir, 'go')
      for (const name of Object.keys(documents)) {
        mkdirSync(join(home, name), { recursive: true })
        const words = ['-package', name, '-generate', 'types,client']
        const out = ['-o', join(home, name, `${name}.go`), join(dir, `${name}.json`)]
        expect(await run([goGenerator, ...words, ...out])).toEqual(done)
      }
      writeFileSync(join(home, 'go.mod'), `module clients\n\ngo 1.24\n\nrequire ${goRuntime}\n`)
      cpSync(join(programs, 'client.go'), join(home, 'client.go'))
      const env = { ...goEnv, GOFLAGS: '-mod=mod -buildvcs=false' }
      const built = await run(['go', 'build', '-o', 'client', '.'], {
        ...{ cwd: home, env, timeoutMs: goLimitMs },
      })
      expect([built.code, built.code === 0 ? '' : built.said]).toEqual([0, ''])
      const outcomes = outcomesIn(await run([join(home, 'client'), ...place()]))
      expect(outcomes.filter(([, status]) => status !== 200 && status !== 201)).toEqual([])
      expect(outcomes.length).toBeGreaterThan(25)
    },
    goLimitMs,
  )
} else {
  const how = 'go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1'
  console.error(`left out: a client in Go (${how})`)
}
