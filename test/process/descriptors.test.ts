// A gateway with few file descriptors and more connections than that: it refuses, writes what it has served, and
// serves again when the connections are gone.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { adminToken, apiToken, defaultConfig, root, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { until } from '../support/read.ts'

async function start() {
  const config = join(tempDir(), 'gateway.yaml')
  writeFileSync(config, defaultConfig)
  const limited = ['sh', '-c', 'ulimit -n 120 && exec "$@"', '-']
  const child = Bun.spawn([...limited, join(root, 'bin/gateway'), 'start'], {
    cwd: tempDir(),
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...ownEnv,
      GATEWAY_PORT: '0',
      GATEWAY_DATA_DIR: tempDir(),
      GATEWAY_CONFIG: config,
      GATEWAY_ADMIN_TOKEN: adminToken,
    },
  })
  const said = { out: '', log: '' }
  const collect = async (stream: ReadableStream<Uint8Array>, into: 'out' | 'log') => {
    for await (const bytes of stream) said[into] += new TextDecoder().decode(bytes)
  }
  const ended = Promise.all([collect(child.stdout, 'out'), collect(child.stderr, 'log')])
  const port = await until('a port', async () => /^ready .*:(\d+)$/m.exec(said.out)?.[1])
  return { child, said, ended, port: Number(port) }
}

test('connections beyond the limit are refused, and nothing that was served is lost', async () => {
  const { child, said, ended, port } = await start()
  const url = `http://127.0.0.1:${port}`
  let served = 0
  const chat = async () => {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'txta-plus', messages: [{ role: 'user', content: 'hi' }] }),
      signal: AbortSignal.timeout(2_000),
    })
    await answer.text()
    if (answer.status === 200) served++
    return answer.status
  }
  const idle: Socket[] = []
  try {
    expect(await chat()).toBe(200)
    for (let i = 0; i < 200; i++) idle.push(connect(port, '127.0.0.1').on('error', () => {}))
    await until(
      'a refusal',
      async () => said.log.includes('file descriptors are left') || undefined,
    )
    await Promise.all(Array.from({ length: 50 }, () => chat().catch(() => {})))
    for (const socket of idle) socket.destroy()
    await until('service', async () => (await chat().catch(() => 0)) === 200 || undefined)
    const answer = await fetch(`${url}/admin/v1/requests?status=200&limit=500`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const { items } = (await answer.json()) as { items: unknown[] }
    expect(items.length).toBeGreaterThanOrEqual(served)
    expect(said.log).not.toContain('cannot write')
    expect(said.log).toContain('enough file descriptors again')
  } finally {
    for (const socket of idle) socket.destroy()
    child.kill()
    await ended
  }
  expect(await child.exited).toBe(0)
})
