// What a task needs from its acceptance to its end. Knows nothing of admission and routing: those
// are over by then.
import type { Ledger } from '../../billing/ledger.ts'
import type { BaseDeps, Cleans, Declares, Offers } from '../base-deps.ts'
import type { Jobs } from '../jobs.ts'
import type { Meters } from '../telemetry/metrics/meters.ts'
import type { Tracer } from '../telemetry/traces/tracer.ts'
import type { AskDeps } from './task-upstream.ts'

export interface TaskDeps extends BaseDeps, Offers, Declares, Cleans, AskDeps {
  readonly ledger: Ledger
  readonly random: () => number
  readonly jobs: Pick<
    Jobs,
    'poller' | 'callbacks' | 'abandonedChecks' | 'lossAlerts' | 'mediaKeeper' | 'ownResponses'
  >
  /** Creates that this gateway is writing or sending, by key or by the task's id. */
  readonly creating: Set<string>
  readonly meters?: Meters
  readonly tracer?: Tracer
}
