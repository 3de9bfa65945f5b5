// The upstream simulator: a little server of its own, reached over HTTP like any real upstream.
// Finds the protocol, keeps the call log, applies the directives that mean the same everywhere.
import type { Protocol } from '../src/contract/catalog.ts'
import { type AskedRequest, AskedRequests } from './http/asked-requests.ts'
import { CallLog, type LoggedCall } from './http/call-log.ts'
import { deliver, idHeaders, pause, untilAborted } from './http/deliver.ts'
import { directedFault } from './http/directed-fault.ts'
import { readDirectives } from './http/directives.ts'
import { ownPaths } from './http/preset-paths.ts'
import { readFields } from './http/read-fields.ts'
import { mediaPath } from './media/media-address.ts'
import { MediaCache } from './media/serve-media.ts'
import {
  type Answer,
  bearerKey,
  type Fault,
  type Route,
  type SimulatedProtocol,
} from './protocol.ts'
import { registry } from './registry.ts'
import { report } from './statements/reports.ts'
import { type Rates, ServedCalls } from './statements/served-calls.ts'

export interface Sandbox {
  port: number
  url: string
  /** The base address of every protocol the sandbox speaks, as a channel wants them. */
  protocols: Readonly<Record<Protocol, string>>
  /** The newest text requests with a number above this one, as they were received. */
  asked(since?: number): readonly AskedRequest[]
  stop(): Promise<void>
}

export interface SandboxOptions {
  port?: number
  host?: string
  taskSeconds?: number
  /** When given, every other credential is refused. */
  key?: string
  /** The bearer token that reads what was asked; the key if it is not given. */
  readerToken?: string
  /** What makers refuse is refused, as with the directive `strict`. */
  strict?: boolean
  /** Sandboxes of different makers refuse each other's sealed reasoning. */
  maker?: string
  /** The clock of answers, of tasks and of the addresses of what they made. */
  now?: () => number
  /** What it bills for texts, by model: it then has statements of what it served. */
  rates?: Rates
  /** How long answers to GET are under way: old news when they arrive. */
  pollDelayMs?: number
}

const maxBodyBytes = 128 * 1024 * 1024

/** The first one refuses what no protocol knows. */
function makeProtocols(options: SandboxOptions) {
  const [first, ...others] = registry
  const { taskSeconds = 3, now = Date.now, maker = 'sandbox' } = options
  const settings = { taskSeconds, now, maker }
  const fallback = first(settings)
  return { fallback, spoken: [fallback, ...others.map((make) => make(settings))] }
}

export function startSandbox(options: SandboxOptions = {}): Sandbox {
  const { port = 0, host = '127.0.0.1' } = options
  const { fallback, spoken } = makeProtocols(options)
  const books = newBooks(spoken, options)
  let served = 0

  const server = Bun.serve({
    port,
    hostname: host,
    idleTimeout: 0,
    maxRequestBodySize: maxBodyBytes,
    development: false,
    async fetch(request): Promise<Response> {
      const path = new URL(request.url).pathname
      const told = ownAnswer(books, request, path, options)
      if (told !== undefined) return told
      const raw = new Uint8Array(await request.arrayBuffer())
      const id = `sbx-${Bun.hash.crc32(raw).toString(16).padStart(8, '0')}-${++served}`
      const target = findTarget(spoken, request.method, ownPaths(path))
      const protocol = target.protocol ?? fallback
      const call = books.log.open(id, target.protocol?.protocol ?? null)
      if (target.protocol?.keepsRequests) books.asked.keep(id, protocol.protocol, request, raw)
      const { billed } = books
      const visit = { request, origin: url, path, raw, call, protocol, target, billed }
      const response = await answerCall(visit, options)
      if (options.pollDelayMs && request.method === 'GET')
        await pause(options.pollDelayMs, request.signal)
      return response
    },
  })
  const url: string = `http://${reachable(host)}:${server.port}`
  return {
    port: server.port ?? 0,
    url,
    protocols: Object.fromEntries(spoken.map((one) => [one.protocol, url + one.basePath])),
    asked: (since) => books.asked.read(since),
    // Closing the connections aborts the signal of every request, so nothing keeps waiting.
    stop: () => server.stop(true),
  }
}

interface Target {
  protocol?: SimulatedProtocol
  route?: Route
  params: Readonly<Record<string, string>>
}

interface Visit {
  request: Request
  origin: string
  path: string
  raw: Uint8Array<ArrayBuffer>
  call: LoggedCall
  protocol: SimulatedProtocol
  target: Target
  billed: ServedCalls | undefined
}

const routesOf = (spoken: readonly SimulatedProtocol[]) =>
  spoken.flatMap((protocol) => protocol.routes.map((route) => ({ protocol, route })))

/** A protocol without a route means that the path is right and the method is not. */
function findTarget(
  spoken: readonly SimulatedProtocol[],
  method: string,
  paths: readonly string[],
): Target {
  let near: SimulatedProtocol | undefined
  for (const path of paths) {
    for (const { protocol, route } of routesOf(spoken)) {
      const match = route.path.exec(path)
      if (match === null) continue
      if (route.method === method) return { protocol, route, params: match.groups ?? {} }
      near ??= protocol
    }
  }
  return near === undefined ? { params: {} } : { protocol: near, params: {} }
}

async function answerCall(
  visit: Visit,
  { key, strict, now = Date.now }: SandboxOptions,
): Promise<Response> {
  const { request, path, raw, call, protocol, target } = visit
  const presented = (target.route?.readKey ?? protocol.readKey)(request.headers)
  visit.billed?.add(call, presented, now())
  if (target.protocol === undefined) return refuse(visit, unknownPath(request.method, path))
  if (target.route === undefined) {
    return refuse(visit, { status: 405, message: `Not allowed on ${path}: ${request.method}` })
  }
  const keyFault = faultOfKey(visit, presented, key)
  if (keyFault !== undefined) return refuse(visit, keyFault)
  const read = await readFields(raw, request, target.route)
  if ('fault' in read) return refuse(visit, read.fault)
  const { fields } = read
  const model = fields['model'] ?? fields['model_name'] ?? target.params['model']
  if (typeof model === 'string') call.model = model
  const user = protocol.readUser(fields)
  if (typeof user === 'string') call.user = user
  call.stream = fields['stream'] === true

  const directives = readDirectives(target.route.isBatch === true ? {} : fields)
  directives.strict ||= strict === true
  const { signal } = request
  if (directives.hang) await untilAborted(signal)
  if (isSlowed(target.route, protocol, fields)) await pause(directives.delayMs, signal)
  if (signal.aborted) return new Response(null, { status: 499 })

  const fault = directedFault(directives, presented)
  const answer: Answer = fault
    ? { kind: 'fault', fault }
    : target.route.answer({ ...callOf(visit, presented), nowMs: now(), fields, directives })
  if (answer.kind === 'fault') return refuse(visit, answer.fault)
  if (answer.kind === 'no-reply') {
    await untilAborted(signal)
    return new Response(null, { status: 499 })
  }
  return deliver(answer, { protocol, call, directives, signal })
}

/** Whether a delay is of the answer itself. */
function isSlowed(
  route: Route,
  protocol: SimulatedProtocol,
  fields: Parameters<Route['answer']>[0]['fields'],
): boolean {
  const { delaySlows = protocol.delaySlows } = route
  return (typeof delaySlows === 'function' ? delaySlows(fields) : delaySlows) === 'answer'
}

function callOf({ request, origin, call, target }: Visit, key: string) {
  const { headers, url } = request
  const search = new URL(url).searchParams
  return { id: call.id, key, params: target.params, search, headers, origin }
}

function refuse({ call, protocol, request }: Visit, fault: Fault): Response {
  const headers = idHeaders(protocol, call.id)
  if (fault.status === 429 || fault.status === 503) headers['retry-after'] = '1'
  call.status = fault.status
  call.finished = !request.signal.aborted
  // Response.json would refuse a body for 304, which a directive may well ask for.
  if (fault.status === 304) return new Response(null, { status: 304, headers })
  return Response.json(protocol.errorBody(fault, call.id), { status: fault.status, headers })
}

const unknownPath = (method: string, path: string): Fault => ({
  status: 404,
  message: `Invalid URL (${method} ${path})`,
  reason: 'unknown_path',
})

function faultOfKey({ request, protocol }: Visit, presented: string, wanted: string | undefined) {
  if (protocol.faultOfKey !== undefined) return protocol.faultOfKey(request.headers, wanted)
  return wanted !== undefined && presented !== wanted ? wrongKey(presented) : undefined
}

/** Real vendors echo the key with its middle hidden; so does this. */
function wrongKey(presented: string): Fault {
  if (presented === '') {
    return { status: 401, message: "You didn't provide an API key in the Authorization header." }
  }
  const shown = presented.length < 12 ? '' : presented.slice(0, 5)
  const masked = `${shown}${'*'.repeat(8)}${shown === '' ? '' : presented.slice(-4)}`
  return {
    status: 401,
    message: `Incorrect API key provided: ${masked}. Find your key on the account page.`,
  }
}

interface Books {
  log: CallLog
  asked: AskedRequests
  spoken: readonly SimulatedProtocol[]
  media: MediaCache
  /** Where it was given rates. */
  billed: ServedCalls | undefined
}

const newBooks = (spoken: Books['spoken'], { rates }: SandboxOptions): Books => ({
  ...{ log: new CallLog(), asked: new AskedRequests(), media: new MediaCache(), spoken },
  billed: rates && new ServedCalls(rates),
})

/** What is not a call: files, statements of what it served, and what tests read. */
function ownAnswer(books: Books, request: Request, path: string, options: SandboxOptions) {
  const { now = Date.now } = options
  if (path.startsWith(mediaPath)) return books.media.serve(request, now())
  const statement = books.billed && report(books.billed, request)
  if (statement !== undefined) return statement
  return path.startsWith('/_sandbox/') ? control(books, request, path, options) : undefined
}

/** What tests read of a sandbox; only the requests themselves need a token. */
function control(
  { log, asked, spoken }: Books,
  request: Request,
  path: string,
  { key, readerToken = key }: SandboxOptions,
): Response {
  const { method } = request
  const tasks = spoken.flatMap((protocol) => protocol.tasks ?? [])
  if (path === '/_sandbox/requests') return readAsked(asked, request, readerToken)
  if (path === '/_sandbox/tasks') {
    if (method !== 'GET') return new Response('GET\n', { status: 405 })
    return Response.json({ tasks: tasks.flatMap((memory) => memory.list()) })
  }
  if (path !== '/_sandbox/calls') return new Response('not found\n', { status: 404 })
  if (method === 'GET') {
    const { total, calls } = log.read()
    const annotate = (call: LoggedCall) => tasks.reduce((row, memory) => memory.annotate(row), call)
    return Response.json({ total, calls: calls.map(annotate) })
  }
  if (method !== 'DELETE') return new Response('GET or DELETE\n', { status: 405 })
  log.clear()
  return new Response(null, { status: 204 })
}

function readAsked(asked: AskedRequests, request: Request, token: string | undefined): Response {
  if (request.method !== 'GET') return new Response('GET\n', { status: 405 })
  if (token !== undefined && bearerKey(request.headers) !== token) {
    return new Response('a token is needed\n', { status: 401 })
  }
  const since = Number(new URL(request.url).searchParams.get('since') ?? 0)
  return Response.json({ requests: asked.read(since) })
}

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
