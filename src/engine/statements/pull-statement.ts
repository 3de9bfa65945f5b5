// A statement from the reports of a channel's provider, taken in as one that was uploaded: by day and model,
// in the ledger's currency, and compared with what the work costs.
import { converted } from '../../billing/cost.ts'
import {
  importStatement,
  type StatementOptions,
} from '../../billing/reconciliation/import-statement.ts'
import type { Channel } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { HttpPort } from '../../contract/http.ts'
import { csvRow } from '../../lib/text/csv.ts'
import type { Statement } from '../../store/ledger/statements.ts'
import type { BaseDeps, Declares } from '../base-deps.ts'
import { readReport } from './cost-reports.ts'

export interface PullDeps extends BaseDeps, Declares {
  readonly http: HttpPort
}

interface PullPeriod {
  fromMs: number
  untilMs: number
}

const currencyOfReports = 'USD'
/** A hundredth: providers round in their own ways. */
const toleranceNanos = 10_000_000n

/** Whole days by UTC. */
export async function pullStatement(
  deps: PullDeps,
  channel: Channel,
  period: PullPeriod,
  name: string,
): Promise<Statement | Refusal> {
  const { billing } = channel
  if (billing === undefined) {
    return refuse('conflict', `channel '${channel.name}' has no 'billing' to pull statements from`)
  }
  const { currency, exchange } = deps.declared.file
  const rate = currency === currencyOfReports ? '1' : exchange[currencyOfReports]
  if (rate === undefined) {
    const message = `reports are in ${currencyOfReports}, which has no rate in 'exchange' of the configuration file`
    return refuse('conflict', message)
  }
  const lines = await readReport(deps.http, billing, period)
  if (lines instanceof Refusal) return lines
  const upstreamNames = new Set(Object.entries(channel.models).flat())
  const rows = lines.map(({ day, model, amount, tokens = '' }) =>
    csvRow([day, nameIn(upstreamNames, model), tokens, converted(amount, rate)]),
  )
  const options: StatementOptions = {
    ...{ channel: channel.name, name, ...period, mayBeEmpty: true },
    form: { map: {}, zoneMs: 0, decimal: '.' },
    rule: { factorNanos: undefined, toleranceNanos, isByAmount: true },
  }
  const text = csvRow(['date', 'model', 'tokens', 'amount']) + rows.join('')
  const made = await importStatement(deps.store, options, once(text), deps.clock.nowMs)
  return 'problem' in made ? refuse('upstream_invalid_response', made.problem) : made
}

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

/** Reports name dated versions of what was asked for by a plain name. */
function nameIn(known: ReadonlySet<string>, model: string): string {
  if (known.has(model)) return model
  const undated = model.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')
  return known.has(undated) ? undated : model
}
