// Runs `gateway import` against a gateway, as an operator would, and databases to import from.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import { adminToken, root, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { requestIdOf, rowOf } from '../support/read.ts'
import { completion, jsonReply } from '../support/upstream.ts'

interface Item {
  kind: string
  name: string
  state: string
  amount?: string
}

interface Remark {
  kind: string
  name: string
  reason: string
}

export interface Moved {
  code: number
  stderr: string
  text: string
  report: {
    source: string
    dry_run: boolean
    carried: Item[]
    carried_differently: Remark[]
    not_carried: Remark[]
  }
}

/** With --json unless a text is wanted. */
export async function move(
  gateway: { url: string },
  args: readonly string[],
  { env = {}, isText = false }: { env?: Record<string, string>; isText?: boolean } = {},
): Promise<Moved> {
  const child = startMove(gateway, isText ? args : [...args, '--json'], env)
  const [text, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const report = text.startsWith('{') ? JSON.parse(text) : undefined
  return { code, stderr, text, report }
}

export const startMove = (
  gateway: { url: string },
  args: readonly string[],
  env: Record<string, string> = {},
) =>
  Bun.spawn([join(root, 'bin/gateway'), 'import', ...args], {
    cwd: tempDir(),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...ownEnv, GATEWAY_URL: gateway.url, GATEWAY_ADMIN_TOKEN: adminToken, ...env },
  })

/** Everything that an import may change, but for what counts time or health. */
export async function stateOf(gateway: TestGateway): Promise<unknown> {
  const state: Record<string, unknown> = {}
  for (const path of ['accounts', 'tokens', 'prices', 'models', 'audit-log']) {
    state[path] = (await gateway.admin('GET', `/${path}?limit=500`)).body.items
  }
  const { items } = (await gateway.admin('GET', '/channels?limit=500')).body
  state['channels'] = items.map(({ name, models, protocols, priority, disabled }: Row) => ({
    ...{ name, models, protocols, priority, disabled },
  }))
  return state
}

type Row = Record<string, unknown>

/** What the upstream of a channel that came along answers. */
export function upstreamAnswer(path: string): Response {
  if (path.endsWith('/rerank')) {
    return jsonReply({
      results: [{ index: 0, relevance_score: 0.5 }],
      usage: { total_tokens: 1000, prompt_tokens: 1000 },
    })
  }
  if (path.endsWith('/audio/speech')) {
    return new Response('sound', { headers: { 'content-type': 'audio/mpeg' } })
  }
  if (path.endsWith('/moderations'))
    return jsonReply({
      id: 'm',
      model: 'm',
      results: [{ flagged: false, categories: {}, category_scores: {} }],
    })
  if (path.endsWith('/images/generations')) {
    return jsonReply({ created: 1, data: [{ b64_json: Buffer.from('png').toString('base64') }] })
  }
  return jsonReply(completion({ prompt_tokens: 1000, completion_tokens: 100 }))
}

/** A call of another interface, and what it cost. */
export async function chargeOf(
  gateway: TestGateway,
  key: string,
  path: string,
  body: object,
): Promise<string> {
  const answer = await gateway.post(path, body, { authorization: `Bearer ${key}` })
  const text = await answer.text()
  if (answer.status !== 200) return text
  return ((await rowOf(gateway, requestIdOf(answer))) as { charge?: string }).charge ?? ''
}

/** A call as a caller of the old gateway makes it. */
export const askWith = (
  gateway: TestGateway,
  key: string,
  model: string,
  path = '/v1/chat/completions',
): Promise<Response> =>
  gateway.post(
    path,
    { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 200 },
    { authorization: `Bearer ${key}` },
  )

/** A gateway in the middle that lets the import write once, and kills it before it hears of that. */
export async function killAfterWrites(
  gateway: TestGateway,
  args: readonly string[],
  writes = 1,
): Promise<boolean> {
  let left = writes
  let child: ReturnType<typeof startMove> | undefined
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const body = request.method === 'GET' ? null : await request.arrayBuffer()
      const answer = await fetch(`${gateway.url}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        body,
      })
      if (request.method !== 'GET' && --left === 0) child?.kill('SIGKILL')
      const headers = new Headers(answer.headers)
      headers.delete('content-encoding')
      return new Response(await answer.arrayBuffer(), { status: answer.status, headers })
    },
  })
  child = startMove({ url: `http://127.0.0.1:${proxy.port}` }, args)
  await child.exited
  await proxy.stop(true)
  return child.signalCode === 'SIGKILL'
}

const server = process.env['TEST_POSTGRES_URL']
export const hasPostgres = server !== undefined
if (!hasPostgres) {
  console.error('left out: imports from PostgreSQL (eval "$(scripts/services start)")')
}

export interface OwnDatabase {
  url: string
  run(statement: string): Promise<void>
  drop(): Promise<void>
}

export async function ownDatabase(): Promise<OwnDatabase> {
  const name = `mover_${randomBytes(6).toString('hex')}`
  const ask = async (url: string, statement: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await ask(server!, `CREATE DATABASE ${name}`)
  const address = new URL(server!)
  address.pathname = `/${name}`
  return {
    url: address.href,
    run: (statement) => ask(address.href, statement),
    drop: () => ask(server!, `DROP DATABASE ${name} WITH (FORCE)`),
  }
}
