// What a stranger would do: take the served documents, generate types from them, write a program with
// those, and ask every interface.
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

const limitMs = 60_000
const program = join(root, 'test/api/openapi-client/client.ts')

interface Program {
  askEverything(place: {
    url: string
    token: string
    adminToken: string
  }): Promise<Record<string, { status: number; data: unknown }>>
}

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
}, limitMs)
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
}, limitMs)

async function run(...command: string[]): Promise<{ code: number; said: string }> {
  const child = Bun.spawn(command, { cwd: root, stdout: 'pipe', stderr: 'pipe', timeout: limitMs })
  const said = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, said }
}

/** The types of both documents, where the program looks for them. */
async function generate(dir: string): Promise<string> {
  const files = ['data', 'admin'].map((name) => join(dir, `${name}.json`))
  for (const [i, path] of ['/openapi.json', '/openapi.admin.json'].entries()) {
    await Bun.write(files[i]!, await fetch(`${gateway.url}${path}`))
  }
  const made = await run('scripts/bun', 'test/support/openapi/generate-types.ts', ...files)
  expect(made).toEqual({ code: 0, said: '' })
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
    const settings = await generate(tempDir())
    expect(await run('node_modules/.bin/tsc', '-p', settings)).toEqual({ code: 0, said: '' })
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
