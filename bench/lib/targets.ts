// Starts what is measured: nginx and the gateway, each in front of the fake upstream.
// Refuses to know how load is made or what the figures mean.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from './children.ts'
import { adminToken, type Channel, callerToken, gatewayConfig } from './gateway-config.ts'
import { childrenOf } from './proc.ts'

export interface Target {
  name: string
  port: number
  /** The processes whose cost is counted. */
  pids: number[]
  /** What its callers send besides the body. */
  headers: Record<string, string>
  child: Child
}

export interface Workspace {
  root: string
  tempDir: string
  upstreamPort: number
  /** Whatever is started is added here, so that it is ended even if it never becomes ready. */
  children: Child[]
}

const startMs = 120_000
/** A gateway may have much to read. */
const gatewayStartMs = 120_000

export function findNginx(): string | undefined {
  const paths = ['/usr/sbin/nginx', '/usr/local/sbin/nginx']
  return Bun.which('nginx') ?? paths.find((path) => existsSync(path))
}

export function nginxVersion(path: string): string {
  const { stderr } = Bun.spawnSync([path, '-v'])
  return /nginx\/(\S+)/.exec(stderr.toString())?.[1] ?? 'unknown'
}

/** What nginx stands in front of: one port of its own for each. */
interface NginxUpstream {
  port: number
  /** The authority of an upstream over TLS. */
  certFile?: string
}

/** A plain reverse proxy for streams: no buffering, no log, connections kept on both sides. */
function nginxConfig(
  workspace: Omit<Workspace, 'upstreamPort'>,
  upstreams: readonly (NginxUpstream & { own: number })[],
): string {
  const dir = workspace.tempDir
  const kept = 'keepalive_requests 100000000;'
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${dir}/nginx-${name};`,
  )
  return `worker_processes 1;
daemon off;
pid ${dir}/nginx.pid;
error_log ${dir}/nginx.log;
events { worker_connections 8192; }
http {
  access_log off;
  ${kept}
  client_max_body_size 64m;
${temp.join('\n')}
${upstreams.map(nginxServer).join('\n')}
}
`
}

const nginxTls = (certFile: string): string => `
      proxy_ssl_verify on;
      proxy_ssl_trusted_certificate ${certFile};
      proxy_ssl_name localhost;
      proxy_ssl_server_name on;`

const nginxServer = ({ port, own, certFile }: NginxUpstream & { own: number }): string =>
  `  upstream fake${port} { server 127.0.0.1:${port}; keepalive 2048; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${own} backlog=4096;
    location / {
      proxy_pass ${certFile === undefined ? 'http' : 'https'}://fake${port};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;${certFile === undefined ? '' : nginxTls(certFile)}
    }
  }`

export const startNginx = async (workspace: Workspace, path: string): Promise<Target> =>
  (await startNginxFor(workspace, path, [{ port: workspace.upstreamPort }]))[0]!

/** One nginx, which is a target once for each upstream. */
export async function startNginxFor(
  workspace: Omit<Workspace, 'upstreamPort'>,
  path: string,
  upstreams: readonly NginxUpstream[],
): Promise<Target[]> {
  const servers = upstreams.map((upstream) => ({ ...upstream, own: freePort() }))
  const config = join(workspace.tempDir, 'nginx.conf')
  writeFileSync(config, nginxConfig(workspace, servers))
  const logFile = join(workspace.tempDir, 'nginx.log')
  const command = [path, '-e', logFile, '-c', config]
  const child = startChild({ name: 'nginx', command, cwd: workspace.root, logFile })
  workspace.children.push(child)
  // The port is open before the worker has started, which is the process that costs.
  const isReady = async () =>
    childrenOf(child.pid).length > 0 && (await isListening(servers.at(-1)!.own))
  await child.waitUntil(isReady, startMs)
  const pids = childrenOf(child.pid)
  return servers.map(({ own }) => ({
    name: 'nginx',
    port: own,
    pids,
    headers: {},
    child,
  }))
}

export async function startGateway(
  workspace: Omit<Workspace, 'upstreamPort'> & Partial<Pick<Workspace, 'upstreamPort'>>,
  command: string | undefined,
  channels: readonly Channel[] = [
    { name: 'fake', url: `http://127.0.0.1:${workspace.upstreamPort}` },
  ],
  /** Another configuration as a whole, and settings besides. */
  other: { config?: object; env?: Record<string, string> } = {},
): Promise<Target> {
  const config = join(workspace.tempDir, 'gateway.yaml')
  writeFileSync(config, JSON.stringify(other.config ?? gatewayConfig(channels)))
  const child = startChild({
    name: 'gateway',
    command: command === undefined ? ['bin/gateway', 'start'] : ['sh', '-c', `exec ${command}`],
    cwd: workspace.root,
    env: {
      ...withoutGatewayVariables(),
      GATEWAY_PORT: '0',
      GATEWAY_DATA_DIR: join(workspace.tempDir, 'data'),
      GATEWAY_CONFIG: config,
      GATEWAY_ADMIN_TOKEN: adminToken,
      GATEWAY_SANDBOX: 'off',
      GATEWAY_LOG: 'warn',
      ...other.env,
    },
    logFile: join(workspace.tempDir, 'gateway.log'),
  })
  workspace.children.push(child)
  const port = Number(await child.waitForLine(/^ready http:\/\/[^:]+:(\d+)$/, gatewayStartMs))
  const headers = { authorization: `Bearer ${callerToken}` }
  return {
    name: 'gateway',
    port,
    pids: [child.pid, ...childrenOf(child.pid)],
    headers,
    child,
  }
}

/** The gateway must see the bench's settings and no one else's. */
function withoutGatewayVariables(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(Bun.env).filter(([name]) => !name.startsWith('GATEWAY_')),
  )
}

/** nginx and peers cannot take port 0; between this and their start the port is anyone's. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

export async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return false
  }
}
