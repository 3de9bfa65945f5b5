// An engine for tests: a real store and ledger, the real providers, and a fixed clock.

import { Ledger } from '../billing/ledger.ts'
import { createPriceBook } from '../billing/prices/price-book.ts'
import { ReceiptWriter } from '../billing/proof/receipt-writer.ts'
import { loadSigningKeys } from '../billing/proof/signing-keys.ts'
import { createCatalog } from '../catalog/snapshot.ts'
import { type FileDeclaration, fileDeclaration } from '../contract/config-schema/index.ts'
import { createSeal } from '../lib/crypto/seal.ts'
import { createHttpClient } from '../lib/http/client.ts'
import { createCleaner } from '../lib/redact/index.ts'
import { createLog } from '../lib/telemetry/log.ts'
import { providers } from '../providers/index.ts'
import type { Dialect as StoreDialect } from '../store/schema.ts'
import { newPlace } from '../store/test-stores.ts'
import { Entitlements } from './admission/entitlements.ts'
import { createRateLimits } from './admission/limits/rate-limits.ts'
import { CallbackSender } from './callbacks/sender.ts'
import { Deadlines } from './calls/deadlines.ts'
import { stopWatchingPrices } from './catalog/missing-prices.ts'
import type { Engine } from './engine.ts'
import { RetryBudget } from './routing/retry-budget.ts'
import { WaitingRoom } from './routing/waiting-room.ts'
import { Poller } from './tasks/poll/poller.ts'

export interface TestEngine {
  engine: Engine
  clock: { ms: number }
  close(): Promise<void>
}

export const fileWith = (declared: object = {}): FileDeclaration => fileDeclaration.parse(declared)

export async function newTestEngine(on: StoreDialect): Promise<TestEngine> {
  const place = await newPlace(on)
  const store = await place.open()
  const clock = { ms: Date.now() }
  const nowMs = () => clock.ms
  const file = fileWith()
  const log = createLog({ level: 'error', pretty: false, write: () => {} })
  const seal = createSeal(new Uint8Array(32).fill(3))
  const engine: Engine = {
    store,
    ledger: await Ledger.open(store),
    receiptWriter: new ReceiptWriter(store, await loadSigningKeys(store, seal), log),
    seal,
    log,
    providers,
    clock: { nowMs },
    random: () => 0.5,
    http: createHttpClient(),
    limits: {
      abandonedStreams: 1,
      abandonedMs: 1,
      tokenCacheEntries: 10,
      queuedCalls: 4,
      queueMs: 50,
    },
    deadlines: new Deadlines(nowMs),
    declared: { file, ownSecrets: [] },
    catalog: createCatalog({
      region: file.region,
      models: [],
      channels: [],
      tokens: new Map(),
      isPriced: () => false,
    }),
    prices: createPriceBook([], new Set(), nowMs),
    cleaner: createCleaner([]),
    knownSecrets: new Map(),
    channelStates: new Map(),
    entitlements: new Entitlements(nowMs),
    retries: new RetryBudget(),
    waiting: new WaitingRoom({ queuedCalls: 4 }),
    poller: new Poller('test'),
    callbacks: new CallbackSender('test', undefined),
    noticeFor: () => undefined,
    durations: new Map(),
    creating: new Set(),
    publicUrl: 'http://gateway.test',
    egressAllow: [],
    rates: createRateLimits({ nowMs, log, instanceId: 'test' }),
    abandoned: 0,
    running: 0,
    draining: false,
  }
  const close = async () => {
    stopWatchingPrices(engine)
    await engine.poller.close()
    await engine.callbacks.close()
    engine.deadlines.close()
    engine.rates.close()
    await store.close()
    await place.remove()
  }
  return { engine, clock, close }
}
