// Flags of commands that set the budget of an account or a token.
import { isZone, periods } from '../../contract/budgets/period.ts'
import type { Flags } from './command.ts'
import { amountOf, type Line } from './line.ts'
import { misuse } from './stop.ts'

export const budgetFlags: Flags = {
  budget: { value: 'AMOUNT|none', summary: 'what may be spent in each period; none: no budget' },
  'budget-per': { value: periods.join('|'), summary: 'the period of the budget' },
  'budget-zone': { value: 'ZONE', summary: 'time zone of its periods, such as Asia/Shanghai' },
}

/** Of accounts, which have budgets of tags, too. */
export const accountBudgetFlags: Flags = {
  ...budgetFlags,
  'tag-budget': {
    value: 'TAG:AMOUNT:PER[:ZONE]',
    many: true,
    summary:
      'budgets of tags, such as team=red:50.00:month; they replace the list; none: no budget',
  },
}

export function accountBudgetsIn(line: Line): object {
  const texts = line.texts('tag-budget')
  if (texts.length === 0) return budgetIn(line)
  if (texts.length === 1 && texts[0] === 'none') return { ...budgetIn(line), tag_budgets: [] }
  return { ...budgetIn(line), tag_budgets: texts.map(tagBudgetOf) }
}

function tagBudgetOf(text: string): object {
  // The value of a tag may have colons; what follows it has none.
  const parts = /^([^=]+=.+?):([^:]+):(total|day|week|month)(?::([^:]+))?$/.exec(text)
  if (parts === null) throw misuse(`--tag-budget takes TAG:AMOUNT:PER[:ZONE], not '${text}'`)
  const [, tag, amount = '', per, zone] = parts
  return { tag, amount: amountOf(amount, '--tag-budget'), per, ...(zone && { zone }) }
}

/** Left out where no flag was given; null takes the budget away. */
export function budgetIn(line: Line): { budget?: object | null } {
  const [amount, per, zone] = [
    line.text('budget'),
    line.text('budget-per'),
    line.text('budget-zone'),
  ]
  if (amount === undefined) {
    if (per === undefined && zone === undefined) return {}
    throw misuse('--budget-per and --budget-zone go with --budget')
  }
  if (amount === 'none') return { budget: null }
  if (per === undefined) throw misuse(`--budget needs --budget-per ${periods.join('|')}`)
  if (zone !== undefined && !isZone(zone)) throw misuse(`'${zone}' is not a time zone`)
  return { budget: { amount: amountOf(amount, '--budget'), per, ...(zone && { zone }) } }
}
