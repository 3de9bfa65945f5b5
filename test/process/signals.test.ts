// Signals at every moment, to the gateway and to npm in front of it: a stop always ends it with
// code 0 and leaves no process behind, and nothing that may be reloaded ever ends it.
import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { adminToken, apiToken, defaultConfig, root, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { until } from '../support/read.ts'

const slow = 'slowly [[sim:chunk=20ms]] [[sim:tokens=60]]'

interface Started {
  child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  output(): string
  /** Code, or the name of the signal that ended it; all output is there. */
  ended: Promise<number | string | null>
  configPath: string
}

const open = new Set<number>()
afterEach(() => {
  for (const pid of open) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  open.clear()
})

function start(command: readonly string[], env: Record<string, string> = {}): Started {
  const configPath = join(tempDir(), 'gateway.yaml')
  writeFileSync(configPath, defaultConfig)
  const child = Bun.spawn([...command], {
    cwd: root,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...ownEnv,
      HOME: tempDir(),
      npm_config_update_notifier: 'false',
      GATEWAY_PORT: '0',
      GATEWAY_DATA_DIR: tempDir(),
      GATEWAY_CONFIG: configPath,
      GATEWAY_ADMIN_TOKEN: adminToken,
      ...env,
    },
  })
  open.add(child.pid)
  let output = ''
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) output += decoder.decode(bytes, { stream: true })
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)])
  const ended = child.exited.then(async () => {
    await collected
    return child.signalCode ?? child.exitCode
  })
  return { child, output: () => output, ended, configPath }
}

const gateway = (env?: Record<string, string>) => start([join(root, 'bin/gateway'), 'start'], env)
const byNpm = (...words: string[]) => start(['npm', ...words])

async function readyUrl({ output, child }: Started): Promise<string> {
  for (;;) {
    const url = /^ready (http:\S+)$/m.exec(output())?.[1]
    if (url !== undefined) return url
    if (child.exitCode !== null) throw new Error(`it did not start:\n${output()}`)
    await Bun.sleep(10)
  }
}

/** All processes below one. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const own = children.trim() === '' ? [] : children.trim().split(' ').map(Number)
  return own.flatMap((child) => [child, ...descendants(child)])
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await Bun.sleep(20)
}

const chat = (url: string, content: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'txta-plus',
      stream: true,
      messages: [{ role: 'user', content }],
    }),
  })

/** The rest of a stream that has begun. */
async function begun(response: Response): Promise<() => Promise<string>> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = decoder.decode((await reader.read()).value, { stream: true })
  return async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text
      text += decoder.decode(value, { stream: true })
    }
  }
}

const isListening = (url: string) =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )

// The children of a process are read from /proc.
if (process.platform === 'linux') {
  describe('a signal to npm start', () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      test(`${signal} drains the gateway, and npm ends with code 0`, async () => {
        const npm = byNpm('start')
        const url = await readyUrl(npm)
        const below = descendants(npm.child.pid)
        const rest = await begun(await chat(url, slow))
        npm.child.kill(signal)
        expect(await rest()).toEndWith('data: [DONE]\n\n')
        expect(await npm.ended).toBe(0)
        await untilGone(below)
        expect(await isListening(url)).toBe(false)
      })
    }

    for (const signal of ['SIGHUP', 'SIGKILL'] as const) {
      test(`${signal} ends npm, and the gateway drains and ends too`, async () => {
        const npm = byNpm('start')
        const url = await readyUrl(npm)
        const below = descendants(npm.child.pid)
        for (const pid of below) open.add(pid)
        const rest = await begun(await chat(url, slow))
        npm.child.kill(signal)
        expect(await rest()).toEndWith('data: [DONE]\n\n')
        expect(await npm.ended).toBe(signal)
        await untilGone(below)
        expect(await isListening(url)).toBe(false)
      })
    }

    test('before it is ready leaves no process behind', async () => {
      for (const delayMs of [150, 400, 600]) {
        const npm = byNpm('start')
        await Bun.sleep(delayMs)
        const below = descendants(npm.child.pid)
        for (const pid of below) open.add(pid)
        npm.child.kill('SIGTERM')
        await npm.ended
        await untilGone(below)
      }
    })

    test('reaches a gateway below a shell that hands nothing on', async () => {
      const shell = start(['sh', '-c', 'bin/gateway start; true'], {
        npm_lifecycle_event: 'npx',
      })
      const url = await readyUrl(shell)
      const below = descendants(shell.child.pid)
      for (const pid of below) open.add(pid)
      shell.child.kill('SIGTERM')
      await untilGone(below)
      expect(await isListening(url)).toBe(false)
    })
  })
}

/** From its first line on a process obeys; before that it is still being loaded. */
async function untilCaught(pid: number): Promise<void> {
  const sigterm = 1n << 14n
  await until('signals are caught', async () => {
    const status = await Bun.file(`/proc/${pid}/status`).text()
    const isShell = (await Bun.file(`/proc/${pid}/cmdline`).text()).includes('bin/gateway')
    const [, caught] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)!
    return (!isShell && (BigInt(`0x${caught}`) & sigterm) !== 0n) || undefined
  })
}

describe('before the gateway is ready', () => {
  test('SIGTERM and SIGINT end it with code 0, at whatever moment', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      for (const delayMs of [0, 60, 150, 400]) {
        const started = gateway()
        await untilCaught(started.child.pid)
        await Bun.sleep(delayMs)
        started.child.kill(signal)
        expect([delayMs, await started.ended]).toEqual([delayMs, 0])
        expect(started.output()).not.toContain('rror')
      }
    }
  })

  test('SIGHUP does not end it, and the file is read again once it is ready', async () => {
    for (const delayMs of [0, 40, 100]) {
      const started = gateway()
      await untilCaught(started.child.pid)
      await Bun.sleep(delayMs)
      started.child.kill('SIGHUP')
      const url = await readyUrl(started)
      expect(await isListening(url)).toBe(true)
      started.child.kill('SIGTERM')
      expect(await started.ended).toBe(0)
    }
  })

  test('a SIGHUP that the program has seen is obeyed when it is ready', async () => {
    const started = gateway()
    while (!started.output().includes('ready http')) {
      await untilCaught(started.child.pid)
      await Bun.sleep(10)
      if (!started.output().includes('ready http')) started.child.kill('SIGHUP')
    }
    while (!started.output().includes('configuration reloaded')) await Bun.sleep(10)
    started.child.kill('SIGTERM')
    expect(await started.ended).toBe(0)
  })

  test('secrets that are shown once are shown even if a stop came first', async () => {
    // Without a token of its own the first start makes one: it is either shown or not made.
    const dataDir = tempDir()
    const env = { GATEWAY_DATA_DIR: dataDir, GATEWAY_ADMIN_TOKEN: '' }
    const started = gateway(env)
    const file = Bun.file(join(dataDir, 'admin-token'))
    while (!(await file.exists())) await Bun.sleep(1)
    started.child.kill('SIGTERM')
    expect(await started.ended).toBe(0)
    expect(started.output()).toContain((await file.text()).trim())
    expect(started.output()).not.toContain('ready http')
  })
})

describe('a second SIGTERM', () => {
  test('ends a stream with an error that its caller can read', async () => {
    const started = gateway()
    const url = await readyUrl(started)
    const endless = 'endless [[sim:chunk=100ms]] [[sim:tokens=5000]]'
    const rest = await begun(await chat(url, endless))
    started.child.kill('SIGTERM')
    while (!started.output().includes('draining')) await Bun.sleep(10)
    started.child.kill('SIGTERM')
    const text = await rest()
    expect(text).toContain('"code":"overloaded"')
    expect(text).toContain('shutting down')
    expect(text).not.toContain('"finish_reason":"stop"')
    expect(await started.ended).toBe(0)
  })
})
