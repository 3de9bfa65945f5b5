// Texts of budgets.
import { defineMessages } from '../../lib/i18n.ts'

export const budgetMessages = defineMessages({
  budget_used_up: ['Used up, calls are refused', '已用完，请求被拒绝'],
  budget_amount: ['Budget amount', '预算金额'],
  budget_hint: ['Empty: no budget. Zero refuses everything.', '留空表示无预算；0 表示全部拒绝。'],
  budget_per: ['Period', '周期'],
  budget_per_hint: ['Weeks begin on Monday.', '每周从周一开始。'],
  budget_per_day: ['Day', '每日'],
  budget_per_week: ['Week', '每周'],
  budget_per_month: ['Month', '每月'],
  budget_per_total: ['In total', '总计'],
  budget_zone: ['Time zone', '时区'],
  budget_zone_hint: ['In which the period begins.', '周期按此时区起算。'],
  budget_spent: ['Spent', '已用'],
  budget_held: ['Held', '已冻结'],
  budget_left: ['Left', '剩余'],
  budget_resets: ['Resets', '重置时间'],
  budget_never: ['Never', '永不'],
  budget_used: ['{share} of {amount} used, {left} left', '已用 {amount} 的 {share}，剩余 {left}'],
})
