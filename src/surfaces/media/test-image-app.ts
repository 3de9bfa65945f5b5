// For tests: a surface of pictures over a real store, two accounts, and an upstream that says what
// the test has told it to say.

import { Hono } from 'hono'
import type { Checked, ImageProvider, Started } from '../../contract/provider.ts'
import type { ImageRequest, ImageTask } from '../../contract/task.ts'
import { createCallerApi } from '../../engine/caller-api.ts'
import { applyDeclarations } from '../../engine/catalog/apply-declarations.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { fileWith, newTestEngine } from '../../engine/test-engine.ts'
import { createDialects } from '../../http/dialect.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { loadTokens } from '../../store/catalog/tokens.ts'
import { findTaskRow, insertTask } from '../../store/tasks/tasks.ts'
import type { Env, Surface } from '../common/surface.ts'

export const secrets = { mine: `sk-${'a'.repeat(30)}`, other: `sk-${'b'.repeat(30)}` }
const limits = { bodyBytes: 1_000_000, bodyMs: 5_000, jsonDepth: 20 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }

export interface ImageScript {
  start: (request: ImageRequest) => Started | Promise<Started>
  check: () => Checked | Promise<Checked>
  /** What the upstream was asked to draw. */
  asked: ImageRequest[]
}

export const started = (): Started => ({
  kind: 'started',
  upstreamId: newId('up'),
  upstreamRequestId: undefined,
})

/** What an upstream that answers at once has drawn. */
export const drawn = (...urls: string[]): Started => ({
  kind: 'finished',
  report: {
    state: 'succeeded',
    media: urls.map((url) => ({ kind: 'image', url })),
    usage: { images: urls.length },
    raw: {},
  },
  upstreamRequestId: undefined,
})

const scripted = (script: ImageScript): ImageProvider => ({
  async start(request) {
    script.asked.push(request)
    return script.start(request)
  },
  check: async () => script.check(),
})

export type ImageApp = Awaited<ReturnType<typeof newImageApp>>

export async function newImageApp(surface: Surface) {
  const base = await newTestEngine('sqlite')
  const script: ImageScript = {
    start: started,
    check: () => ({ kind: 'report', report: { state: 'running' }, upstreamRequestId: undefined }),
    asked: [],
  }
  const image = scripted(script)
  const engine = {
    ...base.engine,
    egressAllow: ['127.0.0.1/32'],
    providers: new Map([
      ['images', { protocol: 'images', path: '/images', image }],
      ['imgvendor', { protocol: 'imgvendor', path: '/images', image }],
    ] as const),
  }
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
        protocols: { images: 'http://up.test', imgvendor: 'http://up.test' },
        models: { 'imga-*': '*', 'imgvendor-*': '*' },
      },
    ],
  })
  await applyDeclarations(engine, file)
  engine.declared = { ...engine.declared, file }
  await refresh(engine)
  const tokens = await loadTokens(engine.store.read)
  const accountOf = (owner: keyof typeof secrets) =>
    tokens.find(({ name }) => name === owner)!.accountId
  const app = new Hono<Env>()
  const dialectAt = createDialects([surface]).at
  surface.mount(app, { api: createCallerApi(engine), limits, hotPost: () => {} })

  const ask = async (
    method: string,
    path: string,
    init: RequestInit = {},
    secret = secrets.mine,
  ) => {
    const request = new Request(`http://localhost${path}`, { ...init, method })
    if (secret !== '') request.headers.set('authorization', `Bearer ${secret}`)
    const answer = await app.fetch(request, {
      context: newRequestContext(request, connection, undefined, dialectAt),
    })
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
  }
  return {
    ...{ engine, clock: base.clock, script, ask, close: base.close },
    row: async (id: string) => (await findTaskRow(engine.store.read, id)) as ImageTask,
    keep: (task: ImageTask, owner: keyof typeof secrets = 'mine') =>
      engine.store.tx((tx) => insertTask(tx, { ...task, accountId: accountOf(owner) })),
    balanceNanos: async () => (await findAccount(engine.store.read, 'acme'))!.balanceNanos,
  }
}

export const json = (fields: object, headers: Record<string, string> = {}): RequestInit => ({
  body: JSON.stringify(fields),
  headers: { 'content-type': 'application/json', ...headers },
})

export function form(parts: readonly (readonly [string, string | Blob])[]): RequestInit {
  const body = new FormData()
  for (const [name, value] of parts) body.append(name, value)
  return { body }
}

export const png = Buffer.from('\x89PNG\r\n\x1a\nrest of the picture', 'latin1')
