// What a batch offers to those of its lines that upstreams run.
import type { Refusal } from '../../../contract/errors.ts'
import type { Claim } from '../../../store/batches/batches.ts'
import type { LineRequest } from '../read-lines.ts'
import type { AskDeps } from './ask-upstream.ts'
import type { HoldDeps, PartPayer } from './hold-part.ts'
import type { PreparedLine, RanAt } from './native-line.ts'

export type NativeDeps = AskDeps & HoldDeps

export interface NumberedLine {
  number: number
  request: LineRequest
}

/** Where, and with which result. */
export type Ran = Omit<RanAt, 'keep'>

export interface NativeHost {
  readonly accountId: string
  readonly claim: Claim
  /** The lines with these numbers that have no outcome. */
  linesIn(numbers: ReadonlySet<number>): AsyncIterable<NumberedLine>
  prepare(line: LineRequest): Promise<PreparedLine | undefined>
  /** Undefined: it is no longer usable. */
  payer(): PartPayer['token'] | undefined
  /** Resolves when it may be followed by another. */
  adopt(line: NumberedLine, at: Ran): Promise<void>
  refuse(line: NumberedLine, refusal: Refusal): Promise<void>
  unrun(line: NumberedLine, why: 'expired' | 'cancelled' | 'failed'): Promise<void>
  /** All that was adopted has its outcome. */
  settled(): Promise<void>
  /** Cancelled or expired: what has not been run is not run any more. */
  isEnding(): boolean
  /** The gateway stops, or the batch is another's. */
  isStopped(): boolean
  lost(): void
  sleep(ms: number): Promise<void>
}
