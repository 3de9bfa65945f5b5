// For tests: the video routes over a real store, two accounts, and a channel that leads to a server
// of the test's own.

import { Hono } from 'hono'
import type { Task } from '../../contract/task.ts'
import { createCallerApi } from '../../engine/caller-api.ts'
import { applyDeclarations } from '../../engine/catalog/apply-declarations.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { fileWith, newTestEngine } from '../../engine/test-engine.ts'
import { createDialects } from '../../http/dialect.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { loadTokens } from '../../store/catalog/tokens.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import type { Env } from '../common/surface.ts'
import { videos } from './index.ts'

const secrets = { mine: `sk-${'a'.repeat(30)}`, other: `sk-${'b'.repeat(30)}` }
const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }

export type VideoApp = Awaited<ReturnType<typeof newVideoApp>>

export async function newVideoApp(answerUpstream: (request: Request) => Promise<Response>) {
  const upstream = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answerUpstream })
  const upstreamUrl = `http://127.0.0.1:${upstream.port}`
  const { engine, close } = await newTestEngine('sqlite')
  const file = fileWith({
    accounts: ['acme', 'else'].map((name) => ({ name, balance: '100.00' })),
    tokens: [
      { account: 'acme', name: 'mine', token: secrets.mine },
      { account: 'else', name: 'other', token: secrets.other },
    ],
    channels: [
      {
        name: 'cloud',
        keys: ['key-1'],
        protocols: { vf: upstreamUrl },
        models: { 'vfa-*': '*', 'vfb-*': '*' },
      },
    ],
  })
  await applyDeclarations(engine, file)
  engine.declared = { ...engine.declared, file }
  await refresh(engine)
  const tokens = await loadTokens(engine.store.read)
  const app = new Hono<Env>()
  const dialectAt = createDialects([videos]).at
  videos.mount(app, { api: createCallerApi(engine), limits, hotPost: () => {} })

  const send = (request: Request) =>
    app.fetch(request, { context: newRequestContext(request, connection, undefined, dialectAt) })

  const ask = (method: string, path: string, init: RequestInit = {}, secret = secrets.mine) => {
    const request = new Request(`http://localhost/v1/videos${path}`, { ...init, method })
    request.headers.set('authorization', `Bearer ${secret}`)
    return send(request)
  }

  const askJson = async (method: string, path: string, init?: RequestInit, secret?: string) => {
    const answer = await ask(method, path, init, secret)
    const body = (await answer.json()) as Record<string, unknown> & { error?: { code: string } }
    return { status: answer.status, headers: answer.headers, body }
  }

  let made = 0
  /** A task that is there already; ids follow the order they were made in. */
  const keep = async (task: Task, owner: keyof typeof secrets = 'mine'): Promise<string> => {
    made++
    const id = `video_${String(made).padStart(4, '0')}`
    const { accountId } = tokens.find(({ name }) => name === owner)!
    await engine.store.tx((tx) => insertTask(tx, { ...task, id, accountId }))
    return id
  }

  return {
    ...{ upstreamUrl, secret: secrets.mine, send, ask, askJson, keep },
    async close() {
      upstream.stop(true)
      await close()
    },
  }
}

export const json = (fields: object): RequestInit => ({
  body: JSON.stringify(fields),
  headers: { 'content-type': 'application/json' },
})

export function form(parts: [string, string | Blob][]): RequestInit {
  const body = new FormData()
  for (const [name, value] of parts) body.append(name, value)
  return { body }
}
