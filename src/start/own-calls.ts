// Calls that the gateway makes itself, such as the lines of a batch: a request in memory goes through the
// interface that serves its path, from admission to charge and log row, as one from a socket does.
import { Hono } from 'hono'
import { bugAnswers } from '../app.ts'
import type { Config } from '../config/index.ts'
import type { CallerApi, OwnCall, RunOwnCall } from '../contract/caller-api.ts'
import { createCallerApi } from '../engine/caller-api.ts'
import type { Engine } from '../engine/engine.ts'
import { beginTrace } from '../engine/telemetry/traces/begin-trace.ts'
import { type Connection, newRequestContext } from '../http/request-context.ts'
import type { SurfaceDeps } from '../surfaces/common/surface.ts'
import { dialects, surfaces } from '../surfaces/index.ts'

type Work = Parameters<SurfaceDeps['hotPost']>[1]

/** There is no other end. */
const connection: Connection = { ip: () => undefined, keepOpen: () => {} }

export function ownCallsOf(engine: Engine, limits: Config['limits']): RunOwnCall {
  const api = createCallerApi(engine)
  const plain = routesOf(api, limits)
  const others = routesOf(withoutEngine(api), limits)
  const answerBug = bugAnswers(engine)
  return async (own) => {
    const work = (own.instead === undefined ? plain : others).get(own.path)
    if (work === undefined) throw new Error(`no text interface serves ${own.path}`)
    const nowMs = engine.clock.nowMs()
    const context = newRequestContext(requestFor(own), connection, nowMs, dialects.at)
    context.own = own
    if (engine.tracer !== undefined) beginTrace(engine, context, null)
    return await work(context).catch((error) => answerBug(context, error))
  }
}

function routesOf(api: CallerApi, limits: Config['limits']): Map<string, Work> {
  const routes = new Map<string, Work>()
  const hotPost: SurfaceDeps['hotPost'] = (path, work) => void routes.set(path, work)
  for (const surface of surfaces) surface.mount(new Hono(), { api, limits, hotPost })
  return routes
}

/** The same for calls that are only read here. */
const withoutEngine = (api: CallerApi): CallerApi =>
  Object.assign(Object.create(api) as CallerApi, {
    refusalBeforeBody: () => undefined,
    runText: (context, call) => context.own!.instead!(context, call),
  } satisfies Partial<CallerApi>)

function requestFor({ path, body, headers, signal }: OwnCall): Request {
  return new Request(`http://gateway${path}`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
    ...(signal !== undefined && { signal }),
  })
}
