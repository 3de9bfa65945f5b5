// Writes when a condition begins and when it is over, with what is told of it and its alert, in one
// transaction. Knows which alert belongs to a condition, and whether its gateways still run.
import { raiseAlert, resolveAlerts } from '../../store/catalog/alerts.ts'
import {
  type Condition,
  clearCondition,
  listConditions,
  raiseCondition,
} from '../../store/deliveries/conditions.ts'
import type { Tx } from '../../store/index.ts'
import { listGateways } from '../../store/maintenance/gateways.ts'
import type { BaseDeps } from '../base-deps.ts'

export interface ConditionDeps extends BaseDeps {
  readonly jobs: { readonly notices: { wake(): void } }
}

export type Send = (tx: Tx, atMs: number) => Promise<unknown>

/** Kinds of alerts, by what they are about. */
const kinds: Readonly<Partial<Record<Condition['type'], string>>> = {
  'channel.down': 'channel_down',
  'task.failures': 'task_failures',
  error_rate: 'error_rate',
}

/** What an error rate is measured of. */
export type RateOf = { model: string } | { channel: string }

/** Rules about one model or channel share an alert. */
const rateSubject = (of: RateOf): string =>
  'model' in of ? `model ${of.model}` : `channel ${of.channel}`

export const ruleSubject = (
  webhookId: string,
  of: RateOf,
  ...terms: readonly [above: number, overMs: number, min: number]
): string => JSON.stringify([webhookId, of, ...terms])

/** The subject of the alert of a condition. */
function alertSubject({ type, subject }: Pick<Condition, 'type' | 'subject'>): string {
  if (type !== 'error_rate') return subject
  const [, of] = JSON.parse(subject) as [string, RateOf]
  return rateSubject(of)
}

export class ConditionRows {
  readonly #deps: ConditionDeps
  readonly #owner: string

  constructor(deps: ConditionDeps, owner: string) {
    this.#deps = deps
    this.#owner = owner
  }

  /** With `message` there is an alert; `send` is for the first gateway that reports it. */
  async begin(condition: Condition, send: Send, message?: string): Promise<void> {
    const { store, clock, jobs } = this.#deps
    const atMs = clock.nowMs()
    const isFirst = await store.tx(async (tx) => {
      if (!(await raiseCondition(tx, condition, atMs))) return false
      const [kind, subject] = [kinds[condition.type], alertSubject(condition)]
      if (kind !== undefined && message !== undefined) {
        await raiseAlert(tx, { kind, subject, message, atMs })
      }
      await send(tx, atMs)
      return true
    })
    if (isFirst) jobs.notices.wake()
  }

  /** `isOver` is asked within the transaction. */
  async end(
    condition: Condition,
    { send, isOver }: { send?: Send; isOver?: (tx: Tx) => Promise<boolean> } = {},
  ): Promise<void> {
    const { store, clock, jobs } = this.#deps
    await store.tx(async (tx) => {
      if (isOver !== undefined && !(await isOver(tx))) return
      const live = await this.#live(tx)
      if (!(await clearCondition(tx, condition, (reporter) => !live.has(reporter)))) return
      const atMs = clock.nowMs()
      const [kind, subject] = [kinds[condition.type], alertSubject(condition)]
      const left = await about(tx, condition.type, subject)
      if (kind !== undefined && left.length === 0) await resolveAlerts(tx, kind, subject, atMs)
      await send?.(tx, atMs)
    })
    if (send !== undefined) jobs.notices.wake()
  }

  /**
   * For an alert that a person resolves: false while a gateway that runs still sees what it is about.
   * What gateways that are gone have reported is forgotten.
   */
  async dismiss(tx: Tx, kind: string, subject: string): Promise<boolean> {
    const type = (Object.keys(kinds) as Condition['type'][]).find((each) => kinds[each] === kind)
    if (type === undefined) return true
    const live = await this.#live(tx)
    const found = await about(tx, type, subject)
    if (found.some(({ reporter }) => live.has(reporter))) return false
    for (const each of found) await clearCondition(tx, each, () => true)
    return true
  }

  /** Those that report; the empty one reports for all. */
  async #live(tx: Tx): Promise<ReadonlySet<string>> {
    const gateways = this.#deps.store.cluster === undefined ? [] : await listGateways(tx)
    return new Set([this.#owner, '', ...gateways.map(({ id }) => id)])
  }
}

const about = async (tx: Tx, type: Condition['type'], subject: string): Promise<Condition[]> =>
  (await listConditions(tx, type)).filter((each) => alertSubject(each) === subject)
