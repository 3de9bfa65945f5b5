// Texts of what a customer sees first.
import { defineMessages } from '../../../lib/i18n.ts'

export const messages = defineMessages({
  balance: ['Balance', '余额'],
  held: ['{amount} held for running work', '其中 {amount} 为进行中的调用冻结'],
  available: ['Available', '可用余额'],
  spend: ['Charges this month', '本月消费'],
  spend_hint: ['Since {month}-01, UTC', '自 {month}-01 起（UTC）'],
  bill: ['Open the bill', '查看账单'],
  top_up: ['Add money', '充值'],
  add_money: ['Add money', '去充值'],
  code: ['Redemption code', '兑换码'],
  redeem: ['Redeem', '兑换'],
  redeemed: [
    '{amount} credited. The balance is now {balance}.',
    '已充值 {amount}，当前余额 {balance}。',
  ],
  no_code: ['There is no such code. Check its letters.', '兑换码不存在，请检查输入。'],
  used_code: [
    'This code was redeemed, has expired or was withdrawn.',
    '该兑换码已使用、已过期或已作废。',
  ],
  budgets: ['Budgets', '预算'],
  no_budgets: [
    'No budget is set: the balance alone limits spending.',
    '未设置预算，仅受余额限制。',
  ],
  whole_account: ['Whole account', '整个账户'],
  of_token: ['Token {name}', '令牌 {name}'],
  of_tag: ['Tag {name}', '标签 {name}'],
  used: ['{spent} of {amount}', '{spent} / {amount}'],
  resets: ['resets {when}', '{when}重置'],
  tokens: ['Tokens', '令牌'],
  no_tokens: [
    'No tokens yet. Applications need a token to call the gateway.',
    '还没有令牌。应用需要令牌才能调用网关。',
  ],
  disabled: ['Disabled', '已停用'],
  all_tokens: ['Manage tokens', '管理令牌'],
  prices: ['Price list', '价格表'],
  prices_hint: [
    'What this account pays now for each model it can call.',
    '该账户当前可调用的各模型价格。',
  ],
  price: ['Price', '价格'],
  kind: ['Kind', '类型'],
  own: ['agreed', '协议价'],
  find_model: ['Find a model', '查找模型'],
  documentation: ['Documentation', '文档'],
  guide: ['Guide', '使用指南'],
  reference: ['API reference', '接口参考'],
  base_url: ['Base URL', '接口地址'],
  suspended: ['This account is suspended', '账户已暂停'],
  suspended_text: [
    'Calls that cost something are refused. Contact the operator of this gateway.',
    '计费调用会被拒绝。请联系网关运营方。',
  ],
})
