// A PostgreSQL of one's own, which a test may stop, freeze and start again. PostgreSQL does not run
// as root, so root starts it as the user its packages make.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.ts'

export interface OwnPostgres {
  url: string
  /** Of the server itself; its connections are children of it. */
  pid(): number
  /** Without a farewell to anybody: what was not committed is gone. */
  crash(): Promise<void>
  start(): Promise<void>
  /** It stays there and says nothing. */
  freeze(): void
  thaw(): void
  ask<T extends pg.QueryResultRow>(statement: string): Promise<T[]>
  remove(): Promise<void>
}

const isRoot = process.getuid?.() === 0
const packaged = '/usr/lib/postgresql'

function findPrograms(): string | undefined {
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => +a - +b) : []
  const newest = versions.map((version) => join(packaged, version, 'bin')).at(-1)
  if (newest !== undefined && existsSync(join(newest, 'initdb'))) return newest
  const found = Bun.which('initdb')
  return found === null ? undefined : found.slice(0, found.lastIndexOf('/'))
}

const programs = findPrograms()
const owner = isRoot ? ownerIds() : undefined

function ownerIds(): { uid: number; gid: number } | undefined {
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  return line === null ? undefined : { uid: Number(line[1]), gid: Number(line[2]) }
}

export const hasPostgresPrograms = programs !== undefined && (!isRoot || owner !== undefined)

async function run(program: string, args: readonly string[]): Promise<void> {
  const asOwner = isRoot
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
    : []
  // Not a pipe: the server would inherit it, and nobody would ever see its end.
  const child = Bun.spawn([...asOwner, join(programs!, program), ...args], {
    cwd: '/',
    timeout: 60_000,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  if ((await child.exited) !== 0) throw new Error(`${program} failed`)
}

export async function startPostgres(settings: readonly string[] = []): Promise<OwnPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-postgres-'))
  chmodSync(dir, 0o700)
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid)
  const data = join(dir, 'data')
  await run('initdb', [
    '-D',
    data,
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '-A',
    'trust',
  ])
  const port = freePort()
  // No socket file: its path would be too long inside the temp directory of a test run.
  const given = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']
  const flags = [...given, ...settings].map((setting) => `-c ${setting}`).join(' ')
  const log = join(dir, 'log')
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const pid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  const signalAll = (signal: NodeJS.Signals) => {
    const server = pid()
    for (const each of [server, ...childrenOf(server)]) signalOne(each, signal)
  }
  const server: OwnPostgres = {
    url,
    pid,
    crash: () => run('pg_ctl', ['stop', '-m', 'immediate', '-w', '-t', '30', '-D', data]),
    start: () =>
      run('pg_ctl', [
        'start',
        '-w',
        '-t',
        '60',
        '-D',
        data,
        '-l',
        log,
        '-o',
        `-p ${port} ${flags}`,
      ]),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async ask(statement) {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      return (await client.query(statement).finally(() => client.end())).rows
    },
    async remove() {
      if (existsSync(join(data, 'postmaster.pid'))) {
        server.thaw()
        await server.crash()
      }
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself meanwhile.
  }
}
