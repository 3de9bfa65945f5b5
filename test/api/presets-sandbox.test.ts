// The sandbox stands in for every provider with a preset: calls, tests and lists of models work, and
// after the steps of docs/run/real-providers.md the doctor has nothing to warn of.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { presets } from '../../src/providers/presets/index.ts'
import {
  adminToken,
  defaultConfig,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const key = 'upk-presets-0123456789abcdef'
const speaking = [...presets.values()].filter(({ group }) => group !== 'media')

let sandbox: Sandbox
let gateway: TestGateway
beforeAll(async () => {
  sandbox = startSandbox({ key })
  gateway = await startGateway({
    config: `region: eu\n${defaultConfig}`,
    env: { GATEWAY_SANDBOX: 'off' },
  })
})
afterAll(async () => {
  await gateway.stop()
  await sandbox.stop()
})

/** Cloud accounts sign their requests, which no sandbox checks: see test/channels/clouds.test.ts. */
const clouds = ['bedrock', 'vertex', 'azure-entra']
const keyed = speaking.filter(({ keyless, name }) => !keyless && !clouds.includes(name))

test.each(keyed.map(({ name }) => name))(
  'a channel of the preset %s can be tested and asked for its models',
  async (preset) => {
    const draft = { preset, base_url: sandbox.url, keys: [key], models: { 'txta-plus': '*' } }
    expect((await gateway.admin('POST', '/channels', draft)).status).toBe(201)
    const tested = await gateway.admin('POST', `/channels/${preset}/test`, {})
    expect(tested.body).toMatchObject({ ok: true, model: 'txta-plus' })
    const found = await gateway.admin('POST', `/channels/${preset}/discover`, {})
    expect(found.body).toMatchObject({ ok: true, gone: [] })
  },
)

test('the doctor is content after the steps to a real provider', async () => {
  const dataDir = tempDir()
  const own = await startGateway({ dataDir, env: { GATEWAY_SANDBOX: 'off' } })
  const run = async (...words: string[]) => {
    const child = Bun.spawn([join(root, 'bin/gateway'), ...words], {
      cwd: tempDir(),
      stdout: 'pipe',
      stderr: 'pipe',
      env: {
        ...ownEnv,
        GATEWAY_ADMIN_TOKEN: adminToken,
        GATEWAY_DATA_DIR: dataDir,
        GATEWAY_SANDBOX: 'off',
        OPENAI_KEY: key,
        ...(words[0] !== 'doctor' && { GATEWAY_URL: own.url }),
      },
    })
    const out = await new Response(child.stdout).text()
    const err = await new Response(child.stderr).text()
    return { out, err, code: await child.exited }
  }
  const preset = ['--preset', 'openai', '--base-url', sandbox.url, '--key-env', 'OPENAI_KEY']
  expect(await run('channel', 'create', ...preset)).toMatchObject({ code: 0 })
  expect(await run('channel', 'discover', 'openai', '--add', '--only', 'txta-*')).toMatchObject({
    code: 0,
  })
  const prices = join(tempDir(), 'prices.yaml')
  writeFileSync(
    prices,
    'prices:\n  - { model: txta-next, unit: token, per_million: { input: "1", output: "2" } }\n',
  )
  expect(await run('price', 'import', prices)).toMatchObject({ code: 0 })
  expect(await run('channel', 'test', 'openai', '--model', 'txta-next')).toMatchObject({ code: 0 })
  await own.stop()
  const { out } = await run('doctor', '--json')
  const { findings } = JSON.parse(out) as {
    findings: { check: string; state: string; says: string }[]
  }
  const told = findings.filter(({ state }) => state === 'warning' || state === 'problem')
  expect(told.filter(({ check }) => check !== 'settings')).toEqual([])
  expect(JSON.stringify(findings)).not.toContain('no model of the catalog')
})
