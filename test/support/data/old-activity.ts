// What a gateway since 0.2 has done when its database is written down: tasks of every interface with lost,
// failed and empty polls, callbacks in every state, a loss, a closed month and an export. Besides, the
// gateway's own answers about all that, which later versions must repeat.
import { oldAdminToken, oldToken } from './old-gateway.ts'

type Json = Record<string, unknown>

/** Far enough back to be closed, and not among the times that tests move. */
const oldMonth = '2026-08'
export const pastEntries = (accountId: string): readonly string[] => {
  const at = Date.UTC(2026, 7, 3)
  const row = (ms: number, kind: string, nanos: number, ref: string) =>
    `INSERT INTO entries (at_ms, account_id, kind, amount_nanos, ref, estimated, note) VALUES ` +
    `(${ms}, '${accountId}', '${kind}', ${nanos}, '${ref}', 0, 'from a time before')`
  return [
    row(at, 'credit', 9_000_000_000, 'credit:past-1'),
    row(at + 86_400_000, 'adjust', -1_250_000_000, 'adjust:past-2'),
    `UPDATE accounts SET balance_nanos = balance_nanos + 7750000000 WHERE id = '${accountId}'`,
  ]
}

export interface OldCalls {
  send(method: string, path: string, body?: unknown): Promise<Response>
  admin(method: string, path: string, body?: unknown): Promise<Json>
}

export function oldCalls(url: string): OldCalls {
  const ask = (secret: string, method: string, path: string, body?: unknown) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return {
    send: (...call) => ask(oldToken, ...call),
    async admin(method, path, body) {
      const answer = await ask(oldAdminToken, method, `/admin/v1${path}`, body)
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json() as Promise<Json>
    },
  }
}

/** Answers 410 on /gone, 503 on /later, and 200 elsewhere. */
const startReceiver = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      return new Response('', { status: { '/gone': 410, '/later': 503 }[pathname] ?? 200 })
    },
  })

const isOver = ({ state }: Json) => ['succeeded', 'failed', 'cancelled'].includes(String(state))

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const untilMs = Date.now() + 240_000
  while (!(await holds())) {
    if (Date.now() > untilMs) throw new Error(`never came: ${what}`)
    await Bun.sleep(100)
  }
}

async function made(answer: Promise<Response>): Promise<Json> {
  const response = await answer
  const body = (await response.json()) as Json
  if (!response.ok) throw new Error(`${response.url}: ${JSON.stringify(body)}`)
  return body
}

async function makeTasks({ send }: OldCalls, receiver: string): Promise<void> {
  const image = { model: 'imga-plus', prompt: 'a lighthouse', n: 2, size: '512x512' }
  await made(send('POST', '/v1/images/generations', image))
  const native = (name: string, text = 'a boat') => ({
    model: 'vidmodel-1-0-pro',
    content: [{ type: 'text', text }],
    callback_url: `${receiver}/${name}`,
  })
  const tasks = '/arkvendor/api/v3/contents/generations/tasks'
  for (const name of ['fine', 'gone', 'later']) await made(send('POST', tasks, native(name)))
  const drawn = { model_name: 'imgvendor-v2-1', prompt: 'a boat', callback_url: `${receiver}/fine` }
  await made(send('POST', '/imgvendor/v1/images/generations', drawn))
  const directives = ['cut=0', 'poll=503', 'no-output', 'fail']
  for (const directive of directives) {
    const prompt = `birds [[sim:${directive}]]`
    await send('POST', '/v1/videos', { model: 'vfb-1.1-t2v', prompt, seconds: 5 })
  }
  const swans = { model: 'vfa-2.7-t2v', prompt: 'slow swans', seconds: 5 }
  const { id } = await made(send('POST', '/v1/videos', swans))
  await made(send('DELETE', `/v1/videos/${id}`))
}

/** A stream that breaks off after the upstream has begun: its cost is a loss. */
async function breakOff({ send }: OldCalls): Promise<void> {
  const messages = [{ role: 'user', content: 'Tell a story.' }]
  const call = { model: 'txta-plus', stream: true, messages }
  await (await send('POST', '/v1/chat/completions', call)).text()
}

/** The path had another name in 0.2. */
async function rerun({ admin }: OldCalls): Promise<void> {
  const { items } = (await admin('GET', '/tasks?state=succeeded&model=vfb-1.1-t2v')) as {
    items: Json[]
  }
  const path = `/tasks/${items[0]!['id']}`
  await admin('POST', `${path}/again`).catch(() => admin('POST', `${path}/rerun`))
}

async function settled({ admin }: OldCalls): Promise<boolean> {
  const { items } = (await admin('GET', '/tasks?limit=100')) as { items: Json[] }
  const over = items.filter(isOver)
  const whole = await Promise.all(over.map(({ id }) => admin('GET', `/tasks/${id}`)))
  const states = whole.map(({ callback }) => (callback as Json | null)?.['state'])
  const isTried = whole.every(({ callback }) => callback === null || hasAttempt(callback as Json))
  return items.length - over.length === 2 && isTried && states.length > 0
}

const hasAttempt = ({ attempts }: Json): boolean => (attempts as unknown[]).length > 0

const shownOfTasks = ['id', 'state', 'charge', 'usage', 'callback', 'timeline'] as const

/** The gateway's answers at the end: bills, and tasks that are over. */
async function answersOf({ admin }: OldCalls): Promise<Json> {
  const month = new Date().toISOString().slice(0, 7)
  const { items } = (await admin('GET', '/tasks?limit=100')) as { items: Json[] }
  const over = items.filter(isOver).map(async ({ id }) => {
    const task = await admin('GET', `/tasks/${id}`)
    return Object.fromEntries(shownOfTasks.map((name) => [name, task[name]]))
  })
  const bills = [
    admin('GET', `/bills?account=acme&month=${month}`),
    admin('GET', `/bills?account=beta&month=${month}`),
    admin('GET', `/bills?account=gamma&month=${oldMonth}`),
  ]
  return { bills: await Promise.all(bills), tasks: await Promise.all(over) }
}

/** Up to 0.2 a file was written in the background; later a list is downloaded as it is read. */
async function exportOnce(calls: OldCalls): Promise<void> {
  const made = await calls
    .admin('POST', '/exports', { kind: 'requests', format: 'csv' })
    .catch((error: Error) => {
      if (!error.message.startsWith('/exports: 404')) throw error
      return undefined
    })
  if (made === undefined) return
  await until('the export', async () => {
    const { state } = await calls.admin('GET', `/exports/${made.id}`)
    return state === 'done'
  })
}

export async function workMore(url: string): Promise<Json> {
  const calls = oldCalls(url)
  const receiver = startReceiver()
  const address = `http://127.0.0.1:${receiver.port}`
  await calls.admin('POST', '/bills/close', { account: 'gamma', month: oldMonth, note: 'reviewed' })
  await makeTasks(calls, address)
  await breakOff(calls)
  await until('the ends of all tasks and their callbacks', () => settled(calls))
  await rerun(calls)
  await until('the end of a task that was run again', () => settled(calls))
  await exportOnce(calls)
  const answers = await answersOf(calls)
  await receiver.stop(true)
  return answers
}
