// The parts of the engine. create-engine.ts makes them; a function of the engine takes only the
// parts that it uses.

import type { Ledger } from '../billing/ledger.ts'
import type { CostBook } from '../billing/prices/cost-book.ts'
import type { PriceBook } from '../billing/prices/price-book.ts'
import type { ReceiptWriter } from '../billing/proof/receipt-writer.ts'
import type { Catalog } from '../catalog/snapshot.ts'
import type { RunOwnCall } from '../contract/caller-api.ts'
import type { Protocol, Token } from '../contract/catalog.ts'
import type { HttpPort } from '../contract/http.ts'
import type { Provider } from '../contract/provider.ts'
import type { Clock } from '../lib/clock.ts'
import type { Seal } from '../lib/crypto/seal.ts'
import type { Mailer } from '../lib/net/mailer.ts'
import type { Cleaner } from '../lib/redact/index.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Store } from '../store/index.ts'
import type { Entitlements } from './admission/entitlements.ts'
import type { RateLimits } from './admission/limits/rate-limits.ts'
import type { Load } from './base-deps.ts'
import type { Deadlines } from './calls/deadlines.ts'
import type { Declared } from './declared.ts'
import type { Jobs } from './jobs.ts'
import type { Subscriptions } from './notices/subscriptions.ts'
import type { MediaStorage } from './results/media-storage.ts'
import type { Conversations } from './routing/affinity.ts'
import type { ChannelState } from './routing/channel-state.ts'
import type { RetryBudget } from './routing/retry-budget.ts'
import type { WaitingRoom } from './routing/waiting-room.ts'
import type { Meters } from './telemetry/metrics/meters.ts'
import type { Tracer } from './telemetry/traces/tracer.ts'

export type { CallContext } from '../contract/caller-api.ts'

export interface EngineLimits {
  /** Of a request: what goes upstream is not larger either. */
  bodyBytes: number
  jsonDepth: number
  /** Streams read on after their caller left: how many at once, and for how long. */
  abandonedStreams: number
  abandonedMs: number
  /** Cached secrets with their token, so that they are not hashed every time. */
  tokenCacheEntries: number
  /** Calls that wait for a channel with a free slot, and for how long. */
  queuedCalls: number
  queueMs: number
}

/** State of the channels, and of the calls that want one. */
interface Routing {
  /** By the channel's id. */
  readonly states: Map<string, ChannelState>
  readonly retries: RetryBudget
  /** Where conversations went last. */
  readonly conversations: Conversations
  readonly waiting: WaitingRoom
}

export interface Engine {
  readonly store: Store
  readonly ledger: Ledger
  /** Writes the receipts of entries. */
  readonly receiptWriter: ReceiptWriter
  /** Replaced as a whole on a change. */
  catalog: Catalog
  prices: PriceBook
  costs: CostBook
  cleaner: Cleaner
  readonly providers: ReadonlyMap<Protocol, Provider>
  readonly clock: Clock
  readonly random: () => number
  readonly http: HttpPort
  readonly seal: Seal
  declared: Declared
  readonly log: Log
  readonly limits: EngineLimits
  readonly deadlines: Deadlines
  /** Secrets used since the last swap, with their tokens. */
  readonly knownSecrets: Map<string, Token>
  readonly entitlements: Entitlements
  readonly routing: Routing
  readonly rates: RateLimits
  readonly jobs: Jobs
  /** Which notices are wanted. */
  readonly subscriptions: Subscriptions
  /** Sends notices by e-mail; absent where no server is configured. */
  readonly mailer?: Mailer
  /** Settings without which there is none. */
  readonly missingForMail: readonly string[]
  /** In-process counters; absent where metrics are off. */
  readonly meters?: Meters
  /** Makes spans; absent where tracing is off. */
  readonly tracer?: Tracer
  /** Creates with a key that are being written, by key. */
  readonly creating: Set<string>
  /** Keeps results longer than the upstream does; absent when that is off. */
  readonly media?: MediaStorage
  /** Base of every link that is given out. */
  readonly publicUrl: string
  /** CIDRs that downloads may reach although they are not public. */
  readonly egressAllow: readonly string[]
  readonly load: Load
  /** Makes a call in the name of a token, through the interface that serves its path. */
  readonly runOwnCall: RunOwnCall
}
