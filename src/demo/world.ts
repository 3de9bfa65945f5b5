// A gateway without a port and with a clock of its own: history is written through it, by the ledger, the
// task writer and the admin API, so that the books are those of a gateway that was there all the time.

import { beginSession } from '../admin/people/sign-in.ts'
import { createApp, type Handle } from '../app.ts'
import type { Config } from '../config/index.ts'
import type { Person } from '../contract/people.ts'
import { createEngine } from '../engine/create-engine.ts'
import type { Engine } from '../engine/engine.ts'
import { newRequestContext } from '../http/request-context.ts'
import { assets } from '../lib/assets.ts'
import { createSeal } from '../lib/crypto/seal.ts'
import { createHttpClient } from '../lib/http/client.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { applyFile } from '../start/apply-file.ts'
import { openCheckedStore } from '../start/boot.ts'
import { loadKeys } from '../start/keys.ts'
import { listPeople } from '../store/catalog/people.ts'
import type { Random } from './random.ts'

export interface World {
  readonly engine: Engine
  /** What time it is there. */
  readonly clock: { ms: number }
  readonly random: Random
  /** Where results lie. */
  readonly mediaOrigin: string
  /** A call of the admin API by a person of this name, who is signed in; by the admin token without one. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  admin(by: string | undefined, call: string, body?: object): Promise<any>
  close(): Promise<void>
}

export async function openWorld(
  config: Config,
  log: Log,
  at: { ms: number; random: Random; mediaOrigin: string },
): Promise<World> {
  const keys = loadKeys(config)
  const seal = createSeal(keys.masterKey)
  const clock = { ms: at.ms }
  const { engine, start, stop } = await createEngine({
    store: await openCheckedStore(config, keys, seal, log),
    log,
    seal,
    http: createHttpClient(),
    clock: { nowMs: () => clock.ms },
    limits: config.limits,
    declared: { file: config.file, ownSecrets: [] },
    publicUrl: `http://localhost:${config.port}`,
    // What a gateway does by itself depends on real time; the gateway that runs later does it.
    services: [],
  })
  await applyFile(engine, config)
  await start()
  const isAdmin = (secret: string) => secret === keys.adminToken
  const { limits } = config
  const handle = createApp({ engine, limits, isAdmin, configSchema: assets.configSchema })
  const admin: World['admin'] = async (by, call, body) => {
    const headers =
      by === undefined
        ? { authorization: `Bearer ${keys.adminToken}` }
        : await signedIn(engine, clock.ms, by)
    return asked(handle, call, headers, body)
  }
  const { random, mediaOrigin } = at
  return { engine, clock, random, mediaOrigin, admin, close: stop }
}

const nowhere = { ip: () => '127.0.0.1', keepOpen: () => {} }
const base = 'http://localhost'

/** A session of their own for each: those of an earlier day are over. */
async function signedIn(engine: Engine, atMs: number, name: string) {
  const person = (await listPeople(engine.store.read)).find((each) => each.name === name) as Person
  const x = newRequestContext(new Request(base), nowhere, atMs)
  const cookie = await beginSession(engine, x, person)
  return { cookie: cookie.split(';')[0]!, 'sec-fetch-site': 'same-origin', origin: base }
}

async function asked(
  handle: Handle,
  call: string,
  headers: Record<string, string>,
  body: object | undefined,
): Promise<unknown> {
  const [method = '', path] = call.split(' ')
  const request = new Request(`${base}/admin/v1${path}`, {
    method,
    headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = await handle(request, nowhere)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${call}: ${answer.status} ${text}`)
  return JSON.parse(text)
}
