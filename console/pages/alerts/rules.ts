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

/** The gateway tells times in seconds. */
export const minutesOf = ({ over }: Rule): number => Number.parseInt(over, 10) / 60

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
