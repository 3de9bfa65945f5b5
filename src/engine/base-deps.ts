// What most parts of the engine work with. A part that needs more extends one of these.
import type { CostBook } from '../billing/prices/cost-book.ts'
import type { PriceBook } from '../billing/prices/price-book.ts'
import type { Catalog } from '../catalog/snapshot.ts'
import type { FileDeclaration } from '../contract/config-schema/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Seal } from '../lib/crypto/seal.ts'
import type { Cleaner } from '../lib/redact/index.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Store } from '../store/index.ts'

export interface BaseDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
}

/** What the operator declared; replaced on a reload. */
export interface Declares {
  readonly declared: { readonly file: FileDeclaration }
}

/** What can be called, what it costs, and what upstreams take for it; replaced on a change. */
export interface Offers {
  readonly catalog: Catalog
  readonly prices: PriceBook
  readonly costs: CostBook
}

/** Hashes secrets, and encrypts what must be read again. */
export interface Seals {
  readonly seal: Seal
}

/** Removes secrets and addresses from texts; replaced on a change. */
export interface Cleans {
  readonly cleaner: Cleaner
}

/** Work in flight. */
export interface Load {
  /** Calls that have been admitted and not yet ended. */
  running: number
  /** Of these, those of low priority. */
  lowPriority: number
  /** Streams that are read on after their caller left. */
  abandoned: number
  /** No new work is admitted. */
  draining: boolean
}
