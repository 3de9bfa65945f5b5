// What the end of a month cost, step by step, as a table and verdicts. Pure.
import { type Columns, check, formatRows, type Verdict } from '../lib/report.ts'

export interface MonthStep {
  name: string
  /** Bills. */
  done: number
  cpuSeconds: number
  seconds: number
}

export function formatMonth(steps: readonly MonthStep[]): string {
  const columns: Columns<MonthStep> = {
    step: ({ name }) => name,
    bills: ({ done }) => done,
    'CPU s': ({ cpuSeconds }) => cpuSeconds,
    s: ({ seconds }) => seconds,
  }
  return formatRows(columns, steps)
}

/** A step that has not done all bills has no figure that counts. */
export function checkMonth(steps: readonly MonthStep[], mails: number, bills: number): Verdict[] {
  return [
    check({
      label: `the month of ${bills} customers closed, numbered, rendered and sent`,
      value: steps.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      limit: '<= 60 s',
      valid: mails === bills && steps.every(({ done }) => done === bills),
    }),
  ]
}
