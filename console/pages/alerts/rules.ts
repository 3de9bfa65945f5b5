// Rules of error rates as a form has them: shares in percent, times in minutes.
import type { Webhook } from '../../../src/admin/notices/webhook-schema.ts'

export interface RuleDraft {
  id: number
  of: 'model' | 'channel'
  name: string
  abovePercent: number
  overMinutes: number
  min: number
}

let lastId = 0

export const newRule = (): RuleDraft => {
  lastId += 1
  return { id: lastId, of: 'model', name: '', abovePercent: 20, overMinutes: 5, min: 20 }
}

type Rule = Webhook['rules'][number]

const inMinutes = { s: 1 / 60, m: 1, h: 60 } as const

/** The gateway tells a time in its largest unit: 90s, 5m, 1h. To a hundredth, which keeps whole seconds. */
export function minutesOf({ over }: Pick<Rule, 'over'>): number {
  const unit = over.slice(-1) as keyof typeof inMinutes
  return Math.round(Number.parseFloat(over) * inMinutes[unit] * 100) / 100
}

export const draftOf = (rule: Rule): RuleDraft => ({
  ...newRule(),
  ...(rule.model === undefined
    ? { of: 'channel', name: rule.channel ?? '' }
    : { of: 'model', name: rule.model }),
  abovePercent: Math.round(rule.above * 10_000) / 100,
  overMinutes: minutesOf(rule),
  min: rule.min,
})

export const ruleBody = ({ of, name, abovePercent, overMinutes, min }: RuleDraft) => ({
  [of]: name,
  above: abovePercent / 100,
  over: `${Math.round(overMinutes * 60)}s`,
  min,
})
