// Texts of the codes page.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  title: ['Codes', '兑换码'],
  hint: [
    'A code is credit for the account of the member who redeems it, once.',
    '成员使用兑换码为其账户充值，每个码只能使用一次。',
  ],
  new_codes: ['New codes', '生成兑换码'],
  amount: ['Amount of each', '每个金额'],
  amount_column: ['Amount', '金额'],
  count: ['How many', '数量'],
  count_hint: ['1,000 at most.', '最多 1,000 个。'],
  expires: ['Works until (empty: forever)', '有效期至（留空为永久）'],
  expires_column: ['Works until', '有效期至'],
  forever: ['Forever', '永久'],
  note: ['Note', '备注'],
  note_hint: ['In the ledger of the account that redeems one.', '显示在使用者账户的账本中。'],
  make: ['Make codes', '生成'],
  made: [
    'Copy or download the codes now: they are not shown again.',
    '请立即复制或下载兑换码，之后不再显示。',
  ],
  codes: ['Codes', '兑换码'],
  copy_all: ['Copy all', '全部复制'],
  download: ['Download CSV', '下载 CSV'],
  saved: ['I have saved them', '我已保存'],
  open: ['Open', '未使用'],
  redeemed: ['Redeemed', '已使用'],
  expired: ['Expired', '已过期'],
  redeemed_by: ['Redeemed by', '使用账户'],
  redeemed_at: ['Redeemed', '使用时间'],
  created: ['Created', '创建时间'],
  created_by: ['Created by', '创建人'],
  empty: ['No codes yet.', '还没有兑换码。'],
  withdraw: ['Delete', '删除'],
  withdraw_title: ['Delete code', '删除兑换码'],
  withdraw_text: [
    'The code of {amount} stops working. It cannot be restored.',
    '金额为 {amount} 的兑换码将失效，且无法恢复。',
  ],
  keep: ['Keep code', '保留'],
})
