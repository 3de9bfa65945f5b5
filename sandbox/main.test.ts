import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'

const run = (...args: string[]) =>
  Bun.spawn([process.execPath, fileURLToPath(new URL('main.ts', import.meta.url)), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  })

test('the command says where it is ready, serves, and exits 0 when told to end', async () => {
  const command = run('--port', '0', '--key', 'sk-cli-0123456789')
  let printed = ''
  for await (const bytes of command.stdout) {
    printed += new TextDecoder().decode(bytes)
    if (/^ready .*\n/m.test(printed)) break
  }
  const url = /^ready (http:\/\/localhost:\d+)\n$/m.exec(printed)?.[1]
  const refused = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{}' })
  expect(refused.status).toBe(401)
  command.kill('SIGTERM')
  expect(await command.exited).toBe(0)
})

test('a wrong flag ends the command with one sentence and exit code 78', async () => {
  for (const args of [['--port', 'x'], ['--port', '70000'], ['--bogus'], ['--port'], ['stray']]) {
    const command = run(...args)
    expect(await command.exited).toBe(78)
    expect(await new Response(command.stderr).text()).toMatch(/^sandbox: [^\n]+\.\n$/)
  }
})
