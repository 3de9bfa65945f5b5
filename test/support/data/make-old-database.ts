// Makes the fixtures of test/cluster/upgrade.test.ts: starts the gateway of another checkout, lets it work,
// kills it in the middle, and writes its database down as SQL, once for each engine:
//   git worktree add /tmp/old v0.2.0 && ln -s "$PWD/node_modules" /tmp/old/node_modules
//   scripts/bun test/support/data/make-old-database.ts /tmp/old test/fixtures/0.2.0
// Needs TEST_POSTGRES_URL and pg_dump.
import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { newPlace } from '../../../src/store/test-stores.ts'
import { oldCalls, pastEntries, workMore } from './old-activity.ts'
import { oldAdminToken, oldConfig, oldCreateKey, oldMasterKey, oldToken } from './old-gateway.ts'
import { type OldUpstream, startOldUpstream } from './old-upstream.ts'

const [checkout, out] = process.argv.slice(2).map((path) => resolve(path))
if (checkout === undefined || out === undefined) throw new Error('which checkout, and to where?')
const hasMigration = (name: string) =>
  Bun.file(join(checkout, 'src/store/migrations', name)).exists()
const makesVideos = await hasMigration('0002-tasks.ts')
/** Since 0.2: callbacks, bills, exports, and a sandbox for every protocol. */
const doesAll = await hasMigration('0010-audit-places.ts')
const sandboxEnv = {
  GATEWAY_SANDBOX: 'on',
  GATEWAY_SANDBOX_TASK_SECONDS: '0.1',
  GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
}

async function start(dataDir: string, databaseUrl: string | undefined, upstream: OldUpstream) {
  const config = join(dataDir, 'gateway.yaml')
  writeFileSync(config, oldConfig(upstream, makesVideos ? 'both' : 'chat'))
  const child = Bun.spawn([join(checkout!, 'bin/gateway'), 'start'], {
    cwd: dataDir,
    stdout: 'pipe',
    stderr: 'inherit',
    env: {
      PATH: process.env['PATH'] ?? '',
      GATEWAY_PORT: '0',
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_CONFIG: config,
      GATEWAY_MASTER_KEY: oldMasterKey,
      GATEWAY_ADMIN_TOKEN: oldAdminToken,
      ...(doesAll && sandboxEnv),
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    },
  })
  let printed = ''
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    printed += decoder.decode(bytes, { stream: true })
    const [, url] = /^ready (http:\/\/localhost:\d+)$/m.exec(printed) ?? []
    if (url !== undefined) return { child, url }
  }
  throw new Error(`it did not start:\n${printed}`)
}

async function work(url: string): Promise<void> {
  const send = async (
    secret: string,
    path: string,
    body: unknown,
    more: Record<string, string> = {},
  ) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json() as Promise<Record<string, string>>
  }
  const admin = (path: string, body: unknown) => send(oldAdminToken, `/admin/v1${path}`, body)
  await admin('/accounts', { name: 'beta', balance: '5.00' })
  await admin('/accounts/beta/credits', { amount: '2.50', note: 'invoice 17' })
  const made = await admin('/tokens', { account: 'beta', name: 'own', models: ['txta-*'] })
  await admin('/channels', {
    name: 'spare',
    keys: ['sk-spare-0123456789'],
    protocols: { chat: 'http://127.0.0.1:9/v1' },
    models: { 'txta-turbo': '*' },
    priority: -1,
  })
  const per_million = { input: '0.50', output: '1.00' }
  await admin('/prices', { model: 'txta-turbo', unit: 'token', per_million })
  const messages = [{ role: 'user', content: 'Hello!' }]
  for (const model of ['txta-plus', 'txta-turbo', 'txta-plus']) {
    await send(oldToken, '/v1/chat/completions', { model, messages })
    await send(made['token']!, '/v1/chat/completions', { model, messages })
  }
  if (!makesVideos) return
  const order = (prompt: string) => ({ model: 'vfa-2.7-t2v', prompt, seconds: 5 })
  const key = { 'idempotency-key': oldCreateKey }
  await send(oldToken, '/v1/videos', order('slow cats'), key)
  await send(oldToken, '/v1/videos', order('slow dogs'))
  await send(oldToken, '/v1/videos', order('quick birds'))
  await send(oldToken, '/v1/videos', order('bad fish'))
  const isEnded = async () => {
    const headers = { authorization: `Bearer ${oldToken}` }
    const list = await (await fetch(`${url}/v1/videos`, { headers })).json()
    const states = (list as { data: { status: string }[] }).data.map(({ status }) => status)
    return states.includes('completed') && states.includes('failed')
  }
  while (!(await isEnded())) await Bun.sleep(100)
}

const quoted = (value: unknown): string => {
  if (value === null) return 'NULL'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`
  return `'${String(value).replaceAll("'", "''")}'`
}

function dumpSqlite(file: string): string {
  const db = new Database(file, { safeIntegers: true })
  const made = db
    .query('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL')
    .all() as {
    type: string
    name: string
    sql: string
  }[]
  const tables = made.filter(({ type, name }) => type === 'table' && !name.startsWith('sqlite_'))
  const rows = tables.flatMap(({ name }) =>
    db
      .query(`SELECT * FROM "${name}"`)
      .values()
      .map((row) => `INSERT INTO "${name}" VALUES (${row.map(quoted).join(', ')})`),
  )
  const others = made.filter(({ type }) => type !== 'table')
  db.close()
  return [...tables.map(({ sql }) => sql), ...rows, ...others.map(({ sql }) => sql), '']
    .join(';\n')
    .trim()
}

async function dumpPostgres(url: string): Promise<string> {
  const flags = ['--inserts', '--no-owner', '--no-privileges', '--no-comments', url]
  const child = Bun.spawn(['pg_dump', ...flags], { stdout: 'pipe', stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('pg_dump failed')
  // Lines for psql alone, and what is only about the session.
  return text.replace(/^(?:\\.*|--.*|SET .*;)\n/gm, '').replace(/\n{2,}/g, '\n')
}

/** An account that had entries months ago: written while no gateway runs. */
async function addPast(dataDir: string, databaseUrl: string | undefined, upstream: OldUpstream) {
  const { child, url } = await start(dataDir, databaseUrl, upstream)
  const { id } = await oldCalls(url).admin('POST', '/accounts', { name: 'gamma' })
  child.kill('SIGTERM')
  await child.exited
  const statements = pastEntries(String(id))
  if (databaseUrl === undefined) {
    const db = new Database(join(dataDir, 'gateway.db'))
    for (const statement of statements) db.run(statement)
    db.close()
    return
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

mkdirSync(out, { recursive: true })
for (const engine of ['sqlite', 'postgres'] as const) {
  const upstream = startOldUpstream()
  const place = await newPlace(engine, { empty: true })
  const { databaseUrl } = place.options
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-old-'))
  if (doesAll) await addPast(dataDir, databaseUrl, upstream)
  const { child, url } = await start(dataDir, databaseUrl, upstream)
  let answers: object | undefined
  try {
    await work(url)
    if (doesAll) answers = await workMore(url)
    await Bun.sleep(1_000)
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
  const text =
    databaseUrl === undefined
      ? dumpSqlite(join(dataDir, 'gateway.db'))
      : await dumpPostgres(databaseUrl)
  writeFileSync(join(out, `${engine}.sql`), `${text}\n`)
  if (answers !== undefined) {
    writeFileSync(join(out, `${engine}.json`), `${JSON.stringify(answers, null, 2)}\n`)
  }
  await upstream.stop()
  await place.remove()
  rmSync(dataDir, { recursive: true, force: true })
}
