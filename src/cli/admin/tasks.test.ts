// Watching a task and having a video made, as a person meets it: a child process against a small
// server that moves on with every question.
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from '../test-program.ts'

interface Seen {
  call: string
  authorization: string | null
  body: unknown
}
type Reply = () => Response

let seen: Seen[] = []
/** One after the other; the last one stays. */
let replies: Reply[] = []

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const text = await request.text()
    seen.push({
      call: `${request.method} ${pathname}${search}`,
      authorization: request.headers.get('authorization'),
      body: text === '' ? undefined : JSON.parse(text),
    })
    return (replies.length > 1 ? replies.shift()! : replies[0]!)()
  },
})
const dir = mkdtempSync(join(tmpdir(), 'gateway-tasks-'))
const env = {
  GATEWAY_URL: `http://127.0.0.1:${server.port}`,
  GATEWAY_ADMIN_TOKEN: 'adm-test',
  GATEWAY_TOKEN: 'sk-caller',
}

beforeEach(() => {
  seen = []
  replies = []
})
afterAll(() => {
  server.stop(true)
  rmSync(dir, { recursive: true })
})

async function gateway(...args: readonly string[]) {
  const child = Bun.spawn([...program, ...args], { cwd: dir, env, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, exitCode }
}

const answers = (...bodies: readonly object[]) => {
  replies = bodies.map((body) => () => Response.json(body))
}
const calls = () => seen.map(({ call }) => call)

const atStart = '2026-11-01T00:00:00.000Z'
const task = (more: object) => ({
  id: 'video_1',
  account: 'acme',
  model: 'vfa-1',
  channel: 'up',
  progress: 0,
  charge: '0.00',
  created_at: atStart,
  finished_at: null,
  ...more,
})
const done = task({
  state: 'succeeded',
  progress: 90,
  charge: '1.50',
  usage: { output_seconds: 5, video_tokens: null },
  media: [{ kind: 'video', url: 'https://up.example/v.mp4', expires_at: null }],
  error: null,
  finished_at: '2026-11-01T00:01:15.400Z',
})

test('the list of tasks is filtered by every flag', async () => {
  answers({ items: [{ ...done, hold: '2.00' }], next_cursor: 'c2' })
  const filters = ['--account=a', '--model=m', '--state=running', '--channel=c']
  const run = await gateway('task', 'list', ...filters, '--interface=videos', '--limit=3')
  expect(run.exitCode).toBe(0)
  expect(run.stdout).toMatch(/video_1 +acme .* succeeded +90 +- +2\.00 +1\.50\n/)
  expect(run.stdout).toContain('more tasks: add --cursor c2')
  expect(calls()).toEqual([
    'GET /admin/v1/tasks?account=a&model=m&state=running&channel=c&interface=videos&limit=3',
  ])
})

test('show prints the fields of a task, and --json the answer', async () => {
  answers(done)
  const shown = await gateway('task', 'show', 'up/1')
  expect(shown.stdout).toContain('output_seconds 5')
  expect(shown.stdout).toMatch(/^charge +1\.50$/m)
  expect(JSON.parse((await gateway('task', 'show', 'up/1', '--json')).stdout)).toEqual(done)
  expect(calls()[0]).toBe('GET /admin/v1/tasks/up%2F1')
})

test('cancel says how the task stands now, or why it goes on', async () => {
  answers(task({ state: 'cancelled' }))
  expect(await gateway('task', 'cancel', 'video_1')).toEqual({
    stdout: 'video_1  cancelled\n',
    stderr: '',
    exitCode: 0,
  })
  expect(calls()).toEqual(['POST /admin/v1/tasks/video_1/cancel'])
  replies = [() => Response.json({ error: { message: 'too late' } }, { status: 409 })]
  expect(await gateway('task', 'cancel', 'video_1')).toMatchObject({
    stderr: 'gateway: too late\n',
    exitCode: 1,
  })
})

test('watch prints a line per change when nobody looks on, then the result', async () => {
  const running = task({ state: 'running', progress: 40 })
  answers(task({ state: 'queued' }), running, running, done)
  const run = await gateway('task', 'watch', 'video_1')
  expect({ exitCode: run.exitCode, stderr: run.stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(run.stdout.replace(/ \d+m\d+s$/gm, ' TIME').split('\n')).toEqual([
    'queued       [--------------------]   0%  TIME',
    'running      [########------------]  40%  TIME',
    'succeeded    [####################] 100%  TIME',
    'id       video_1',
    'state    succeeded',
    'model    vfa-1',
    'channel  up',
    'charge   1.50',
    'usage    output_seconds 5',
    'media    kind video, url https://up.example/v.mp4',
    '',
  ])
  expect(run.stdout).toContain('100%  1m15s\n')
  expect(calls()).toEqual(Array(4).fill('GET /admin/v1/tasks/video_1'))
})

test('watch draws one line over and over on a terminal', async () => {
  answers(task({ state: 'running', progress: 40 }), done)
  let screen = ''
  const child = Bun.spawn([...program, 'task', 'watch', 'video_1'], {
    cwd: dir,
    env: { ...env, TERM: 'xterm', NO_COLOR: '1' },
    terminal: {
      cols: 120,
      rows: 40,
      data: (_, bytes) => {
        screen += new TextDecoder().decode(bytes)
      },
    },
  })
  expect(await child.exited).toBe(0)
  for (let i = 0; i < 100 && !screen.includes('v.mp4'); i++) await Bun.sleep(10)
  child.terminal?.close()
  const [before, first, second] = screen.split('\r\u001b[2K')
  expect(before).toBe('')
  expect(first).toMatch(/^running .*40% {2}\d+m\d+s$/)
  expect(second).toMatch(/^succeeded .*100% {2}1m15s\r\nid +video_1\r\n/)
})

test('watch exits 1 for a task that failed, and prints one document under --json', async () => {
  const failed = task({
    state: 'failed',
    error: { code: 'upstream_error', message: 'no\u001b[1m' },
  })
  answers(failed)
  const told = await gateway('task', 'watch', 'video_1')
  expect(told.exitCode).toBe(1)
  expect(told.stdout).toMatch(/^error +code upstream_error, message no\[1m$/m)
  answers(task({ state: 'queued' }), failed)
  const json = await gateway('task', 'watch', 'video_1', '--json')
  expect([JSON.parse(json.stdout), json.exitCode]).toEqual([failed, 1])
})

const video = (status: string, more: object = {}) => ({ id: 'video_2', status, ...more })
const make = ['call', 'video', 'a cat', '--model', 'vfa-1'] as const

test('call video creates, waits, and saves the file', async () => {
  const bytes = new Uint8Array(3_000_000).map((_, i) => i % 251)
  answers(video('queued'), video('in_progress', { progress: 50 }), video('completed'))
  replies.push(() => new Response(bytes))
  const run = await gateway(...make, '--seconds', '5', '--resolution', '720p')
  expect({ exitCode: run.exitCode, stderr: run.stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(run.stdout).toStartWith('video_2\nqueued ')
  expect(run.stdout).toEndWith('video_2  completed  3000000 bytes in ./video_2.mp4\n')
  expect(readFileSync(join(dir, 'video_2.mp4')).equals(Buffer.from(bytes))).toBe(true)
  expect(calls()).toEqual([
    'POST /v1/videos',
    'GET /v1/videos/video_2',
    'GET /v1/videos/video_2',
    'GET /v1/videos/video_2/content',
  ])
  expect(seen[0]!.body).toEqual({
    model: 'vfa-1',
    prompt: 'a cat',
    seconds: 5,
    resolution: '720p',
  })
  expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer sk-caller']),
  )
})

test('call video puts the file where it is told, and prints one document under --json', async () => {
  answers(video('completed'))
  replies.push(() => new Response('film'))
  const run = await gateway(...make, '--out', 'here.mp4', '--json')
  expect(JSON.parse(run.stdout)).toEqual(video('completed'))
  expect(readFileSync(join(dir, 'here.mp4'), 'utf8')).toBe('film')
})

test('call video makes nothing that it could not put anywhere', async () => {
  answers(video('completed'))
  mkdirSync(join(dir, 'folder'))
  for (const out of ['nowhere/a.mp4', 'folder']) {
    expect(await gateway(...make, '--out', out)).toMatchObject({ exitCode: 2, stdout: '' })
  }
  expect(seen).toEqual([])
})

test('call video exits 1 with the reason when there is no video', async () => {
  answers(video('failed', { error: { code: 'content_policy_violation', message: 'not that' } }))
  const failed = await gateway(...make)
  expect(failed.exitCode).toBe(1)
  expect(failed.stdout).toEndWith('video_2  failed: not that\n')
})

test('call video names the video when its file cannot be had, and leaves no half of it', async () => {
  answers(video('completed'))
  replies.push(() => Response.json({ error: { message: 'gone' } }, { status: 410 }))
  const gone = await gateway(...make, '--out', 'gone.mp4')
  expect(gone).toMatchObject({ exitCode: 1, stderr: 'gateway: gone (video video_2)\n' })

  const breaking = createServer((request, response) => {
    if (request.method === 'POST') return void response.end(JSON.stringify(video('completed')))
    response.writeHead(200, { 'content-length': 2_000 })
    response.write(new Uint8Array(1_000), () => response.destroy())
  })
  await new Promise<void>((resolve) => breaking.listen(0, '127.0.0.1', resolve))
  const { port } = breaking.address() as { port: number }
  const cut = await gateway(...make, '--out', 'cut.mp4', '--url', `http://127.0.0.1:${port}`)
  breaking.close()
  expect(cut.exitCode).toBe(1)
  expect(cut.stderr).toMatch(/^gateway: .*broke off .*\(video video_2\)\n$/)
  expect(readdirSync(dir).filter((name) => /^(gone|cut)/.test(name))).toEqual([])
})

test('call video lets no id choose the place of the file', async () => {
  answers({ ...video('completed'), id: '../evil' })
  const run = await gateway(...make)
  expect(run.exitCode).toBe(1)
  expect(run.stderr).toContain('--out')
  expect(existsSync(join(dir, '..', 'evil.mp4'))).toBe(false)
})
