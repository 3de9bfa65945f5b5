// The examples run as their readers would run them, all against one gateway and its sandbox.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { newWebhookSecret } from '../../src/lib/net/webhook.ts'
import {
  apiToken,
  defaultConfig,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { python } from '../support/python.ts'

const folder = join(root, 'examples')
const callbackSecret = newWebhookSecret()

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({
    config: `${defaultConfig}\ncallbacks: { secret: ${callbackSecret} }\n`,
    env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2', GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const runners: Readonly<Record<string, readonly string[]>> = {
  sh: [],
  ts: [join(root, 'scripts/bun')],
  mjs: ['node'],
  py: [python.program],
}

async function run(
  name: string,
  env: Record<string, string> = settings(),
  args: readonly string[] = [],
) {
  const runner = runners[name.split('.').at(-1)!]!
  const child = Bun.spawn([...runner, join(folder, name), ...args], {
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

async function charges(): Promise<number> {
  const { body } = await gateway.admin('GET', '/accounts/acme/ledger')
  const entries = body.items as { kind: string }[]
  return entries.filter(({ kind }) => kind === 'charge').length
}

/** What it printed; it must have ended well, said nothing on the side, and cost so many charges. */
async function printed(name: string, costs: number, args: readonly string[] = []) {
  const before = await charges()
  const { code, out, err } = await run(name, settings(), args)
  expect([code, err]).toEqual([0, ''])
  expect((await charges()) - before).toBe(costs)
  return out
}

const usages = (out: string) => out.match(/^usage: \d+ in, \d+ out$/gm)

const has = {
  node: Bun.which('node') !== null,
  python: python.has(),
  openai: python.has('openai'),
  anthropic: python.has('anthropic'),
}
if (!has.python) console.error('left out: examples in Python (install Python 3.9 or newer)')
if (!has.openai) python.sayLeftOut('examples/openai_sdk.py', 'openai')
if (!has.anthropic) python.sayLeftOut('examples/anthropic_sdk.py', 'anthropic')

test('each opens with what it is and how it is run, and is in the list', () => {
  const list = readFileSync(join(folder, 'README.md'), 'utf8')
  const shared = ['README.md', 'settings.mjs', 'tools.mjs']
  for (const name of readdirSync(folder).filter((each) => !shared.includes(each))) {
    expect(list).toContain(`| \`${name}\``)
    if (name === 'gateway.yaml') continue
    const head = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, 6).join('\n')
    expect(head).toMatch(new RegExp(`^(?://|#)   .*GATEWAY_TOKEN=.*examples/${name}`, 'm'))
    if (name.endsWith('.sh')) expect(statSync(join(folder, name)).mode & 0o111).toBe(0o111)
  }
})

describe('in the shell,', () => {
  test('first-call.sh asks once for JSON and once for a stream', async () => {
    const out = await printed('first-call.sh', 2)
    expect(out).toContain('"object":"chat.completion"')
    expect(out).toContain('"object":"chat.completion.chunk"')
    expect(out).toContain('data: [DONE]')
    expect(out).toMatch(/"choices":\[\],"usage":\{/)
  })

  test('first-call.sh shows why it failed', async () => {
    const wrong = await run('first-call.sh', {
      ...settings(),
      GATEWAY_TOKEN: 'sk-nobody-000000000000',
    })
    expect(wrong.code).not.toBe(0)
    expect(wrong.out).toContain('invalid_api_key')
    const none = await run('first-call.sh', { GATEWAY_URL: gateway.url })
    expect(none.code).not.toBe(0)
    expect(none.err).toContain('GATEWAY_TOKEN')
  })

  test('video.sh orders a video, waits for it and saves it', async () => {
    const file = join(tempDir(), 'cat.mp4')
    const out = await printed('video.sh', 1, [file])
    expect(out).toMatch(/^ordered: video_\w+\nsaved: .*cat\.mp4 \(\d+ bytes\)\n$/)
    expect(readFileSync(file).subarray(4, 8).toString()).toBe('ftyp')
  })
})

test('openai-chat.ts lists models, asks and streams', async () => {
  const out = await printed('openai-chat.ts', 2)
  expect(out).toMatch(/^models: .*txta-plus/m)
  expect(out).toMatch(/^answer: \S/m)
  expect(out).toMatch(/^stream: \S/m)
  expect(usages(out)).toHaveLength(2)
})

test('openai-chat.ts says what it needs', async () => {
  const { code, err } = await run('openai-chat.ts', { GATEWAY_URL: gateway.url })
  expect(code).toBe(64)
  expect(err).toContain('GATEWAY_TOKEN')
})

if (has.node) {
  describe('on Node,', () => {
    test.each(['ai-sdk.mjs', 'anthropic-messages.mjs'])('%s asks and streams', async (name) => {
      const out = await printed(name, 2)
      expect(out).toMatch(/^answer: \S/m)
      expect(out).toMatch(/^stream: \S/m)
      expect(usages(out)).toHaveLength(2)
    })

    test.each(['agent-chat.mjs', 'agent-messages.mjs'])(
      '%s lets the model call a tool, hands it the result and shows the answer',
      async (name) => {
        const out = await printed(name, 2)
        expect(out).toMatch(/^tool: weather\(\{"city":"sandbox"\}\) -> \{"city":"sandbox",.*\}$/m)
        expect(out.trim().split('\n').at(-1)).toMatch(/^(?!tool:)\S.{20}/)
      },
    )

    test('an agent says what it needs', async () => {
      const { code, err } = await run('agent-chat.mjs', { GATEWAY_URL: gateway.url })
      expect(code).toBe(64)
      expect(err).toContain('GATEWAY_TOKEN')
    })

    test('video-batch.mjs hears of every end by a signed callback, and saves the films', async () => {
      const dir = tempDir()
      const env = { ...settings(), CALLBACK_SECRET: callbackSecret }
      const { code, out, err } = await run('video-batch.mjs', env, [dir])
      expect([code, err]).toEqual([0, ''])
      expect(out.match(/^ordered: /gm)).toHaveLength(3)
      expect(out.match(/^saved: .*\.mp4$/gm)).toHaveLength(3)
      for (const name of readdirSync(dir)) {
        expect(readFileSync(join(dir, name)).subarray(4, 8).toString()).toBe('ftyp')
      }
      expect(readdirSync(dir)).toHaveLength(3)
    })
  })
}

if (has.python) {
  describe('in Python,', () => {
    test('first_call.py lists models, asks and streams', async () => {
      const out = await printed('first_call.py', 2)
      expect(out).toMatch(/^models: .*txta-plus/m)
      expect(out).toMatch(/^answer: \S/m)
      expect(out).toMatch(/^stream: \S/m)
      expect(usages(out)).toHaveLength(2)
    })

    test('first_call.py shows why it failed', async () => {
      const env = { ...settings(), GATEWAY_TOKEN: 'sk-nobody-000000000000' }
      const { code, err } = await run('first_call.py', env)
      expect(code).toBe(1)
      expect(err).toMatch(/^401: .*req_/)
    })

    test('agent.py lets the model call a tool and shows the answer', async () => {
      const out = await printed('agent.py', 2)
      expect(out).toMatch(/^tool: weather\(.*\) -> \{"city": "sandbox",.*\}$/m)
      expect(out).toMatch(/^answer: \S.{20}/m)
    })

    const sdks = [
      ...(has.openai ? ['openai_sdk.py'] : []),
      ...(has.anthropic ? ['anthropic_sdk.py'] : []),
    ]
    for (const name of sdks) {
      test(`${name} asks and streams`, async () => {
        const out = await printed(name, 2)
        expect(out).toMatch(/^answer: \S/m)
        expect(out).toMatch(/^stream: \S/m)
        expect(usages(out)).toHaveLength(2)
      })
    }
  })
}
