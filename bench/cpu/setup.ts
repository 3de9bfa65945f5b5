// Starts what the chosen cases need: an upstream of each kind, one nginx in front of all of them, bare
// proxies, a gateway on SQLite and, where a case wants it, one on PostgreSQL. Refuses to know figures.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificate } from '../lib/certificate.ts'
import type { Child } from '../lib/children.ts'
import { portOf, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import { type OwnPostgres, startBenchPostgres } from '../lib/postgres.ts'
import { startGateway, startNginxFor, type Target, type Workspace } from '../lib/targets.ts'
import type { Options } from '../options.ts'
import type { Case, Link } from './cases.ts'
import { casesConfig } from './cases-config.ts'

interface Upstream {
  /** Its number is part of the names of its models. */
  number: number
  port: number
  url: string
  /** The authority of one over TLS. */
  certFile?: string
}

export interface Setup {
  load: Child
  gateways: Record<Case['store'], Target | undefined>
  upstreamOf(chosen: Case): number
  nginx: readonly Target[]
  /** One for each upstream that a case wants it for. */
  bare: ReadonlyMap<number, Target>
  end(): Promise<void>
}

type Place = Omit<Workspace, 'upstreamPort'>

const keyOf = (options: Options, { eventsPerWrite, link }: Case): string =>
  `${eventsPerWrite ?? options.chunksPerWrite} ${link}`

export async function startSetup(run: Run, chosen: readonly Case[]): Promise<Setup> {
  const { options } = run
  const place = workspaceFor(run, 'cpu')
  const { certFile } = makeCertificate(place.tempDir)
  const keys = [...new Set(chosen.map((each) => keyOf(options, each)))]
  const upstreams = await Promise.all(keys.map((key, i) => startUpstream(place, key, i, certFile)))
  const upstreamOf = (each: Case) => keys.indexOf(keyOf(options, each))
  const wanted = new Set(chosen.filter(({ hasBare }) => hasBare).map(upstreamOf))
  const bare = new Map<number, Target>()
  for (const number of wanted) bare.set(number, await startBare(place, upstreams[number]!))
  const gateway = startGatewayAs(run, place, upstreams, certFile)
  const needsPostgres = chosen.some(({ store }) => store === 'postgres')
  const postgres = needsPostgres ? await startBenchPostgres() : undefined
  return {
    load: startProgram(place, 'load/load'),
    gateways: {
      sqlite: await gateway('sqlite'),
      postgres: postgres && (await gateway('postgres', postgres)),
    },
    upstreamOf,
    nginx: await startNginxFor(place, run.nginx, upstreams),
    bare,
    end: async () => postgres?.remove(),
  }
}

async function startUpstream(
  place: Place,
  key: string,
  number: number,
  certFile: string,
): Promise<Upstream> {
  const [eventsPerWrite, link] = key.split(' ') as [string, Link]
  const args = [eventsPerWrite, link, place.tempDir]
  const port = await portOf(startProgram(place, 'upstreams/text-upstream', ...args))
  return link === 'tls'
    ? { number, port, url: `https://localhost:${port}`, certFile }
    : { number, port, url: `http://127.0.0.1:${port}` }
}

async function startBare(place: Place, { url }: Upstream): Promise<Target> {
  const child = startProgram(place, 'cpu/bare-proxy', url)
  const headers = { authorization: 'Bearer bench-upstream-key' }
  return { name: 'bare', port: await portOf(child), pids: [child.pid], headers, child }
}

function startGatewayAs(
  { options }: Run,
  place: Place,
  upstreams: readonly Upstream[],
  certFile: string,
) {
  const config = casesConfig(upstreams.map(({ url }) => url))
  return (store: Case['store'], postgres?: OwnPostgres) => {
    const workspace = { ...place, tempDir: join(place.tempDir, store) }
    mkdirSync(workspace.tempDir)
    const env = {
      NODE_EXTRA_CA_CERTS: certFile,
      ...(postgres !== undefined && {
        GATEWAY_DATABASE_URL: postgres.url,
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      }),
    }
    return startGateway(workspace, options.gatewayCommand, [], { config, env })
  }
}
