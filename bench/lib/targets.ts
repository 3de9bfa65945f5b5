// Starts what is measured: nginx, the gateway and the peer, each in front of the fake upstream.
// Refuses to know how load is made or what the figures mean.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
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
  /** Measured for comparison only: its failures do not end the run. */
  peer: boolean
}

export interface Workspace {
  root: string
  tempDir: string
  upstreamPort: number
  /** Whatever is started is added here, so that it is ended even if it never becomes ready. */
  children: Child[]
}

/**
 * The peer alone resolves to a node-server with which it answered every stream with status 500, and
 * so it did with 1.14.2; with 1.13.8 streams were seen to work.
 */
const peerPackage = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: { '@hono/node-server': '1.13.8' },
}
const startMs = 20_000
const installMs = 120_000

export function findNginx(): string | undefined {
  const paths = ['/usr/sbin/nginx', '/usr/local/sbin/nginx']
  return Bun.which('nginx') ?? paths.find((path) => existsSync(path))
}

export function nginxVersion(path: string): string {
  const { stderr } = Bun.spawnSync([path, '-v'])
  return /nginx\/(\S+)/.exec(stderr.toString())?.[1] ?? 'unknown'
}

/** A plain reverse proxy for streams: no buffering, no log, connections kept on both sides. */
function nginxConfig(workspace: Workspace, port: number): string {
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
${temp.join('\n')}
  upstream fake { server 127.0.0.1:${workspace.upstreamPort}; keepalive 2048; ${kept} }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://fake;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`
}

export async function startNginx(workspace: Workspace, path: string): Promise<Target> {
  const port = freePort()
  const config = join(workspace.tempDir, 'nginx.conf')
  writeFileSync(config, nginxConfig(workspace, port))
  const logFile = join(workspace.tempDir, 'nginx.log')
  const command = [path, '-e', logFile, '-c', config]
  const child = startChild({ name: 'nginx', command, cwd: workspace.root, logFile })
  workspace.children.push(child)
  await child.waitUntil(() => isListening(port), startMs)
  return { name: 'nginx', port, pids: childrenOf(child.pid), headers: {}, child, peer: false }
}

export async function startGateway(
  workspace: Workspace,
  command: string | undefined,
  channels: readonly Channel[] = [
    { name: 'fake', url: `http://127.0.0.1:${workspace.upstreamPort}` },
  ],
  /** Another configuration as a whole, and settings besides. */
  other: { config?: object; env?: Record<string, string> } = {},
): Promise<Target> {
  const config = join(workspace.tempDir, 'gateway.yaml')
  writeFileSync(config, JSON.stringify(other.config ?? gatewayConfig(channels), undefined, 2))
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
  const port = Number(await child.waitForLine(/^ready http:\/\/[^:]+:(\d+)$/, startMs))
  const headers = { authorization: `Bearer ${callerToken}` }
  return {
    name: 'gateway',
    port,
    pids: [child.pid, ...childrenOf(child.pid)],
    headers,
    child,
    peer: false,
  }
}

export async function startPeer(workspace: Workspace): Promise<Target> {
  const dir = join(workspace.tempDir, 'peer')
  mkdirSync(dir)
  writeFileSync(join(dir, 'package.json'), JSON.stringify(peerPackage))
  const install = ['npm', 'install', '--prefix', dir, '--ignore-scripts', '--no-audit', '--no-fund']
  const result = Bun.spawnSync(install, { timeout: installMs })
  if (!result.success) throw new Error(`npm could not install the peer: ${result.stderr}`)
  const port = freePort()
  const script = join(dir, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  const child = startChild({
    name: 'portkey',
    command: ['node', script, `--port=${port}`, '--headless'],
    cwd: dir,
    logFile: join(workspace.tempDir, 'peer.log'),
  })
  workspace.children.push(child)
  await child.waitUntil(() => isListening(port), startMs)
  const headers = {
    authorization: 'Bearer bench-upstream-key',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${workspace.upstreamPort}/v1`,
  }
  return {
    name: 'portkey',
    port,
    pids: [child.pid, ...childrenOf(child.pid)],
    headers,
    child,
    peer: true,
  }
}

/** The gateway must see the bench's settings and no one else's. */
function withoutGatewayVariables(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(Bun.env).filter(([name]) => !name.startsWith('GATEWAY_')),
  )
}

/** nginx and the peer cannot take port 0; between this and their start the port is anyone's. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return false
  }
}
