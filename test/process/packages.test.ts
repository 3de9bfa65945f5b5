// What is shipped, tried as it is: the npm package without its source, and the executable alone in an
// empty folder, without any environment, and as the gateway of the tests with the official SDKs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root, tempDir } from '../support/gateway.ts'

const slowMs = 120_000

function build(...words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, join(root, 'scripts/build.ts'), ...words],
    { stdout: 'inherit' },
  )
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
}

function packageInto(out: string): unknown[] {
  const { exitCode, stdout, stderr } = Bun.spawnSync([join(root, 'scripts/package'), out])
  return [exitCode, stdout.toString(), stderr.toString()]
}

interface Started {
  url: string
  printed: string
  child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
}

async function start(command: readonly string[], env: Record<string, string>): Promise<Started> {
  const child = Bun.spawn([...command], {
    cwd: tempDir(),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { GATEWAY_PORT: '0', GATEWAY_DATA_DIR: './data', ...env },
  })
  let printed = ''
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    printed += decoder.decode(bytes, { stream: true })
    const [, url] = /^ready (http:\/\/localhost:\d+)$/m.exec(printed) ?? []
    if (url !== undefined) return { url, printed, child }
  }
  throw new Error(`it did not start:\n${printed}`)
}

const run = (command: readonly string[], env: Record<string, string> = {}) => {
  const { exitCode, stdout } = Bun.spawnSync([...command], { cwd: tempDir(), env })
  return [exitCode, stdout.toString().trim()]
}

/** A first call, the console with its script, and the guide. */
async function use({ url, printed }: Started): Promise<void> {
  const [, token] = /API token\s+(sk-\w+)/.exec(printed)!
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: 'txta-plus', messages: [{ role: 'user', content: 'Hello!' }] }),
  })
  expect(answer.status).toBe(200)
  const page = await (await fetch(`${url}/console/`)).text()
  const [, script] = /src="(\/console\/main-[^"]+\.js)"/.exec(page)!
  expect((await fetch(`${url}${script}`)).status).toBe(200)
  const guide = await fetch(`${url}/docs/guide`)
  expect([guide.status, (await guide.text()).includes('Quick start')]).toEqual([200, true])
  const schema = (await (await fetch(`${url}/config.schema.json`)).json()) as { title?: string }
  expect(schema).toHaveProperty('properties')
}

const { version } = (await Bun.file(join(root, 'package.json')).json()) as { version: string }

describe('the package', () => {
  let gateway: string
  beforeAll(() => {
    const modules = join(tempDir(), 'node_modules')
    const home = join(modules, 'model-gateway')
    mkdirSync(home, { recursive: true })
    const out = tempDir()
    expect(packageInto(out)).toEqual([0, `model-gateway-${version}.tgz\n`, ''])
    const packed = join(out, `model-gateway-${version}.tgz`)
    Bun.spawnSync(['tar', '-xzf', packed, '--strip-components=1', '-C', home])
    symlinkSync(join(root, 'node_modules/@oven'), join(modules, '@oven'))
    gateway = join(home, 'bin/gateway')
  })
  const path = { PATH: process.env['PATH'] ?? '' }

  test('is not what npm would make of the repository, which refuses to be packed', () => {
    const { exitCode, stderr } = Bun.spawnSync(['npm', 'pack', '--dry-run'], { cwd: root })
    expect(exitCode).not.toBe(0)
    expect(stderr.toString()).toContain('The repository is not the package: scripts/package OUT')
  })

  test('has no source and needs no other package', async () => {
    const home = join(gateway, '../..')
    expect(readdirSync(home)).not.toContain('src')
    expect(await Bun.file(join(home, 'package.json')).json()).not.toHaveProperty('dependencies')
  })

  test('says its version, serves calls and the console, and ends when told to', async () => {
    expect(run([gateway, '--version'], path)).toEqual([0, version])
    const started = await start([gateway], path)
    await use(started)
    started.child.kill('SIGTERM')
    expect(await started.child.exited).toBe(0)
  })
})

describe('the executable', () => {
  let executable: string
  let started: Started
  beforeAll(async () => {
    const built = tempDir()
    build(built, '--alone')
    expect(readdirSync(built)).toEqual(['model-gateway'])
    // Away from everything it was built from.
    executable = join(tempDir(), 'gw')
    cpSync(join(built, 'model-gateway'), executable)
    started = await start([executable], {})
  }, slowMs)
  afterAll(async () => {
    started.child.kill('SIGTERM')
    expect(await started.child.exited).toBe(0)
  })

  test('serves calls and the console with nothing in its environment', () => use(started), slowMs)

  test('has the command line inside, and the sandbox', async () => {
    expect(run([executable, 'version'])).toEqual([0, version])
    const [code, help] = run([executable, 'help'])
    expect([code, String(help).includes('gateway COMMAND --help')]).toEqual([0, true])
    expect(run([executable, 'db', 'copy'])[0]).toBe(2)
    const refused = Bun.spawnSync([executable, 'sandbox', '--port', 'x'], {
      cwd: tempDir(),
      env: {},
    })
    expect([refused.exitCode, refused.stderr.toString()]).toEqual([
      78,
      "sandbox: --port must be a number from 0 to 65535, not 'x'.\n",
    ])
  })
})
