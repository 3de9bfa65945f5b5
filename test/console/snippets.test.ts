// Lines of code that the console offers to copy. Callers choose what is in them and operators paste
// them: whatever a text holds, it stays a text.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { namesFor, snippets } from '../../console/lib/client-snippets.ts'
import { curlFor, type LoggedRequest } from '../../console/lib/resources/request.ts'
import { codeFor } from '../../console/pages/playground/request/code.ts'
import { formCodeFor } from '../../console/pages/playground/request/form-code.ts'
import { hostileTexts } from '../support/console/hostile-texts.ts'
import { tempDir } from '../support/gateway.ts'

/** Each would make a file in the current folder. */
const commands = [
  "'; touch ran; echo '",
  '$(touch ran)',
  '`touch ran`',
  '"; touch ran; "',
  "'\n touch ran\n'",
  "''' + __import__('os').system('touch ran') + r'''",
  "'\\''; touch ran #",
  '$&; touch ran',
]
const texts = [...commands, ...hostileTexts.filter((text) => !text.includes('\0'))]

const url = 'https://gateway.example'
const row = (use: string, model: string) =>
  ({ interface: use, model, stream: true }) as LoggedRequest

/** Runs it in a folder of its own, with another program for curl that shows what it was given. */
async function run(command: string[]): Promise<{ said: string; ran: boolean }> {
  const cwd = tempDir()
  const child = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'ignore' })
  const said = await new Response(child.stdout).text()
  return { said, ran: existsSync(join(cwd, 'ran')) }
}
const inShell = (code: string) => run(['sh', '-c', `curl() { printf '%s\\0' "$@"; }\n${code}`])

test('code beside a new secret has it; elsewhere readers put in their own', () => {
  const secret = 'sk-0123456789abcdefghijklmnop'
  for (const { name, code } of snippets(url, secret)) {
    expect([name, code.includes(secret), code.includes('YOUR_TOKEN')]).toEqual([name, true, false])
  }
  for (const { code } of snippets(url)) expect(code).toContain('YOUR_TOKEN')
})

test('code names models that the token can call', () => {
  const model = (name: string, kind: string, callable = true) => ({ name, kind, callable })
  const models = [
    ...[model('gone', 'text', false), model('embed', 'embedding'), model('small', 'text')],
    ...[model('large', 'text'), model('film', 'video')],
  ]
  expect(namesFor(models, ['*'])).toEqual({ text: 'small', video: 'film' })
  expect(namesFor(models, ['la*', 'embed'])).toEqual({ text: 'large' })
  expect(namesFor([...models, model('txta-plus', 'text')], ['*']).text).toBe('txta-plus')
  const whole = snippets(url, 'sk-x', { text: 'small', video: 'film' })
  const code = whole.map((each) => each.code).join('\n')
  expect(code).toContain('"model":"film"')
  expect(code).toContain("model: 'small'")
  expect(code).not.toMatch(/txta-|vfa-|vendorg-video/)
  // Nothing is shown that could not be called.
  const textOnly = snippets(url, 'sk-x', { text: 'small' }).map(({ name }) => name)
  expect(textOnly).toEqual(snippets(url).flatMap(({ name }) => (/Video/.test(name) ? [] : [name])))
})

test('curl of a request gets the model as it was asked for, and the shell nothing', async () => {
  for (const model of texts) {
    const { said, ran } = await inShell(curlFor(url, row('chat', model)))
    const given = said.split('\0')
    expect([model, ran, given[0]]).toEqual([model, false, `${url}/v1/chat/completions`])
    const body = JSON.parse(given.at(-2) ?? '') as { model: string }
    expect(body.model).toBe(model.toWellFormed())
  }
})

test('a model in the path is one part of the path', async () => {
  for (const model of texts) {
    const { said, ran } = await inShell(curlFor(url, row('vendorg', model)))
    const [address = ''] = said.split('\0')
    expect([model, ran]).toEqual([model, false])
    const name = encodeURIComponent(model.toWellFormed())
    expect(address).toBe(`${url}/vendorg/v1beta/models/${name}:predictLongRunning`)
  }
})

const codes = (body: object) =>
  Object.fromEntries(codeFor(url, '/v1/videos', body).map(({ name, code }) => [name, code]))

test('curl of the playground gets the body as it is, and the shell nothing', async () => {
  for (const prompt of texts) {
    const { said, ran } = await inShell(codes({ prompt })['curl']!)
    expect([prompt, ran]).toEqual([prompt, false])
    expect(JSON.parse(said.split('\0').at(-2) ?? '')).toEqual({ prompt })
  }
})

const python = Bun.which('python3')
if (python === null) console.error('left out: Python of the playground (install python3)')
else {
  test('Python of the playground gets the body as it is, and runs nothing of it', async () => {
    const code = codes({ texts })['Python']!
    // All but the call itself.
    const upTo = code.indexOf('request = ')
    const { said, ran } = await run([python, '-c', `${code.slice(0, upTo)}print(json.dumps(body))`])
    expect(ran).toBe(false)
    expect(JSON.parse(said)).toEqual({ texts })
  })
}

test('Node of the playground gets the body as it is, and runs nothing of it', () => {
  for (const prompt of texts) {
    const code = codes({ prompt })['Node']!
    const sent = /body: JSON\.stringify\(([\s\S]*)\),\n\}\)/.exec(code)?.[1]
    expect(JSON.parse(sent ?? '')).toEqual({ prompt })
  }
})

test('a form of the playground gets its fields as they are, and the shell nothing', async () => {
  for (const prompt of texts) {
    const [curl] = formCodeFor(url, '/v1/audio/transcriptions', { prompt }, 'sk-1')
    const { said, ran } = await inShell(curl!.code)
    expect([prompt, ran]).toEqual([prompt, false])
    expect(said.split('\0')).toContain(`prompt=${prompt}`)
    expect(curl!.code).toContain('Bearer sk-1')
  }
})
