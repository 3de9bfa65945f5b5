// The examples run as their readers would run them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { apiToken, root, startGateway, type TestGateway } from './support/gateway.ts'
import { ownEnv } from './support/own-env.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

async function run(command: string[], env: Record<string, string>) {
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...ownEnv, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

const settings = () => ({ GATEWAY_URL: gateway.url, GATEWAY_TOKEN: apiToken })
const firstCall = [join(root, 'examples/first-call.sh')]
const openaiChat = [join(root, 'scripts/bun'), join(root, 'examples/openai-chat.ts')]

async function charges(): Promise<number> {
  const { body } = await gateway.admin('GET', '/accounts/acme/ledger')
  const entries = body.items as { kind: string }[]
  return entries.filter(({ kind }) => kind === 'charge').length
}

test('first-call.sh asks once for JSON and once for a stream', async () => {
  const before = await charges()
  const { code, out, err } = await run(firstCall, settings())
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('"object":"chat.completion"')
  expect(out).toContain('"object":"chat.completion.chunk"')
  expect(out).toContain('data: [DONE]')
  expect(out).toMatch(/"choices":\[\],"usage":\{/)
  expect((await charges()) - before).toBe(2)
})

test('first-call.sh shows why it failed', async () => {
  const wrong = await run(firstCall, { ...settings(), GATEWAY_TOKEN: 'sk-nobody-000000000000' })
  expect(wrong.code).not.toBe(0)
  expect(wrong.out).toContain('invalid_api_key')
  const none = await run(firstCall, { GATEWAY_URL: gateway.url })
  expect(none.code).not.toBe(0)
  expect(none.err).toContain('GATEWAY_TOKEN')
})

test('openai-chat.ts lists models, asks and streams', async () => {
  const before = await charges()
  const { code, out, err } = await run(openaiChat, settings())
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^models: .*txta-plus/m)
  expect(out).toMatch(/^answer: \S/m)
  expect(out).toMatch(/^stream: \S/m)
  expect(out.match(/^usage: \d+ in, \d+ out$/gm)).toHaveLength(2)
  expect((await charges()) - before).toBe(2)
})

test('openai-chat.ts says what it needs', async () => {
  const { code, err } = await run(openaiChat, { GATEWAY_URL: gateway.url })
  expect(code).toBe(64)
  expect(err).toContain('GATEWAY_TOKEN')
})
