// A port of the gateway: opens it, refuses malformed request targets before any other code sees
// them, and passes the rest to its handler.
import http from 'node:http'
import { type Handle, refuseUnrouted } from '../app.ts'
import { type Config, ConfigError } from '../config/index.ts'
import type { Refusal } from '../contract/errors.ts'
import { clientIp, noProxies, type TrustedProxies, trustedProxies } from '../http/client-ip.ts'
import type { Connection } from '../http/request-context.ts'
import {
  plainTargets,
  targetPatterns,
  unfitTarget,
  wrongHost,
  wrongSegment,
} from '../http/request-target.ts'

type Listening = Pick<Config, 'host' | 'port' | 'limits' | 'trustedProxies'>
type Server = Bun.Server<undefined>
type Route = Bun.BunRequest<string>

/** Two gateways that share a port would answer for each other; workers of one may share it. */
export function listen(
  config: Listening,
  sharesPort: boolean,
  handle: () => Handle,
  setting = 'GATEWAY_PORT/GATEWAY_HOST',
): Server {
  const { host, port, limits } = config
  const { trustedProxies: cidrs } = config
  const proxies = cidrs.length === 0 ? noProxies : trustedProxies(cidrs)
  // For the whole process. Includes the request line: a query may hold long lists of ids.
  ;(http as { maxHeaderSize: number }).maxHeaderSize = limits.headerBytes
  try {
    return Bun.serve({
      hostname: host,
      port,
      reusePort: sharesPort,
      idleTimeout: limits.idleConnectionSeconds,
      // Each route checks sizes, after authentication and before the body is read.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      ...targetsOf(handle, proxies, limits.idleConnectionSeconds),
    })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? `port ${port} is already in use` : message
    throw new ConfigError(`${setting}: cannot listen on ${host}:${port}: ${why}.`)
  }
}

function targetsOf(handle: () => Handle, proxies: TrustedProxies, idleSeconds: number) {
  const answer = (request: Request, server: Server, wrong: Refusal | undefined) => {
    const connection = new ServerConnection(server, request, proxies, idleSeconds)
    const refusal = wrong ?? wrongHost(request.headers.get('host'), request.url)
    if (refusal === undefined) return handle()(request, connection)
    return refuseUnrouted(request, connection, refusal)
  }
  const plain = (request: Route, server: Server) => answer(request, server, undefined)
  const segments = (request: Route, server: Server) =>
    answer(request, server, wrongSegment(request.params))
  return {
    routes: {
      ...Object.fromEntries(targetPatterns.map((pattern) => [pattern, segments])),
      ...Object.fromEntries(plainTargets.map((path) => [path, plain])),
    },
    fetch: (request: Request, server: Server) => answer(request, server, unfitTarget(request.url)),
  }
}

class ServerConnection implements Connection {
  readonly #server: Server
  readonly #request: Request
  readonly #proxies: TrustedProxies
  readonly #idleSeconds: number
  #kept = false

  constructor(server: Server, request: Request, proxies: TrustedProxies, idleSeconds: number) {
    this.#server = server
    this.#request = request
    this.#proxies = proxies
    this.#idleSeconds = idleSeconds
  }

  ip(): string | undefined {
    const peer = this.#server.requestIP(this.#request)?.address
    return clientIp(peer, this.#request.headers.get('x-forwarded-for'), this.#proxies)
  }

  /** An upstream may take longer than the idle limit; deadlines watch it instead. */
  keepOpen(idleSeconds = 0): void {
    this.#kept = true
    this.#server.timeout(this.#request, idleSeconds)
  }

  /** An unread answer would otherwise stay in memory indefinitely. */
  answerReady(): void {
    if (this.#kept) this.#server.timeout(this.#request, this.#idleSeconds)
  }
}
