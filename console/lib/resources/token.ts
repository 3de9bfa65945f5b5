// A token as the admin API shows it, with what was charged to it lately.
import type { Account as AccountAnswer } from '../../../src/admin/money/account-schema.ts'
import type { Token } from '../../../src/admin/people/token-schema.ts'

export type { Token }
export type Account = Pick<AccountAnswer, 'name' | 'available' | 'tag_names' | 'end_users'>

const days = 30
const dayMs = 86_400_000

/** One number for each of the days, for drawing only. */
export function dailySpend(token: Token, nowMs: number): number[] {
  const spent = new Map(token.spend_by_day?.map(({ day, amount }) => [day, Number(amount)]))
  return Array.from({ length: days }, (_, i) => {
    const day = new Date(nowMs - (days - 1 - i) * dayMs).toISOString().slice(0, 10)
    return spent.get(day) ?? 0
  })
}

/** What a token may call; `*` alone is every model. */
export const modelsText = (models: readonly string[], all: string): string =>
  models.length === 1 && models[0] === '*' ? all : models.join(', ')
