// What a stranger would do: take the served documents, generate a client from them, write a program with it,
// and ask every interface; in TypeScript, and in Python where its generator is installed. In Go: beside it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  adminToken,
  apiToken,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { documents, done, outcomesIn, run, saveDocuments } from '../support/openapi/clients.ts'
import { python } from '../support/python.ts'

const limitMs = 60_000
const programs = join(root, 'test/api/openapi-client')
const program = join(programs, 'client.ts')

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
  await saveDocuments(gateway.url, dir)
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

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

test('a program compiles with the generated types and asks every interface', async () => {
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
})

const place = () => [gateway.url, apiToken, adminToken]

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
