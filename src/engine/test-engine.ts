// An engine for tests: a real store and ledger, the real providers, and a fixed clock. No background
// job runs.

import { type FileDeclaration, fileDeclaration } from '../contract/config-schema/index.ts'
import { createSeal } from '../lib/crypto/seal.ts'
import { createHttpClient } from '../lib/http/client.ts'
import { createLog } from '../lib/telemetry/log.ts'
import type { Dialect as StoreDialect } from '../store/schema.ts'
import { newPlace } from '../store/test-stores.ts'
import { createEngine } from './create-engine.ts'
import type { Engine } from './engine.ts'

export interface TestEngine {
  engine: Engine
  clock: { ms: number }
  close(): Promise<void>
}

export const fileWith = (declared: object = {}): FileDeclaration => fileDeclaration.parse(declared)

export async function newTestEngine(on: StoreDialect): Promise<TestEngine> {
  const place = await newPlace(on)
  const clock = { ms: Date.now() }
  const nowMs = () => clock.ms
  const { engine, stop } = await createEngine({
    store: await place.open(),
    log: createLog({ level: 'error', pretty: false, write: () => {} }),
    seal: createSeal(new Uint8Array(32).fill(3)),
    http: createHttpClient(),
    clock: { nowMs },
    monotonicMs: nowMs,
    random: () => 0.5,
    limits: {
      bodyBytes: 32 * 1024 * 1024,
      jsonDepth: 64,
      abandonedStreams: 1,
      abandonedMs: 1,
      tokenCacheEntries: 10,
      queuedCalls: 4,
      queueMs: 50,
    },
    declared: { file: fileWith(), ownSecrets: [] },
    owner: 'test',
    publicUrl: 'http://gateway.test',
  })
  const close = async () => {
    await stop()
    await place.remove()
  }
  return { engine, clock, close }
}
