// The texts of a printed bill, in each of its languages. A missing translation fails the type
// check.

const en = {
  title: 'Statement',
  account: 'Account',
  period: 'Period',
  currency: 'Currency',
  status: 'Status',
  issued: 'Printed',
  issuedAt: '{date} UTC',
  open: 'Open',
  closed: 'Closed',
  closedAt: 'Closed on {date} UTC',
  provisional:
    'This month is not closed yet. The figures are those of the moment of printing and can still change.',
  differs:
    'The books no longer agree with this statement as it was closed. Do not use it before that has been looked into.',
  summary: 'Summary',
  openingBalance: 'Opening balance',
  credits: 'Credits',
  adjustments: 'Adjustments',
  charges: 'Charges',
  closingBalance: 'Closing balance',
  byModel: 'Charges by model',
  byToken: 'Charges by token',
  movements: 'Credits and adjustments',
  moreMovements: 'The first {count} are shown; the lines of the bill have all of them.',
  noCharges: 'No charges in this month.',
  noMovements: 'No credits and no adjustments in this month.',
  model: 'Model',
  unit: 'Unit',
  count: 'Count',
  quantity: 'Quantity',
  amount: 'Amount',
  token: 'Token',
  date: 'Date (UTC)',
  kind: 'Kind',
  note: 'Note',
  total: 'Total',
  estimated: '{count} estimated',
  tokensInOut: 'input {input}, output {output}',
  cached: 'of the input, read from cache {read}, written to cache {write}',
  unitToken: 'tokens',
  unitImage: 'images',
  unitVideoSecond: 'seconds of video',
  unitVideoToken: 'video tokens',
  kindCredit: 'Credit',
  kindAdjust: 'Adjustment',
  noName: '(not named)',
  rounding:
    'Amounts are exact to a billionth of the currency. Where two decimals do not hold an amount, the rounded one is followed by the exact one. All sums are of exact amounts.',
  times: 'Months and times are by UTC.',
  estimates: 'Estimated charges were counted by the gateway because no usage was reported.',
  proofText:
    'This statement was signed when it was closed. It covers receipts up to number {number}.',
  key: 'Public key (Ed25519)',
  signature: 'Signature',
}

export type PageWord = keyof typeof en
export type PageWords = Readonly<Record<PageWord, string>>

const zh: PageWords = {
  title: '对账单',
  account: '账户',
  period: '账期',
  currency: '币种',
  status: '状态',
  issued: '打印时间',
  issuedAt: '{date}（UTC）',
  open: '未结账',
  closed: '已结账',
  closedAt: '已于 {date}（UTC）结账',
  provisional: '本月尚未结账，以下为打印时的数据，之后仍可能变动。',
  differs: '账簿与结账时的对账单不一致，查明原因之前请勿使用。',
  summary: '汇总',
  openingBalance: '期初余额',
  credits: '充值',
  adjustments: '调整',
  charges: '消费',
  closingBalance: '期末余额',
  byModel: '按模型汇总',
  byToken: '按令牌汇总',
  movements: '充值与调整明细',
  moreMovements: '仅列出前 {count} 条，全部记录见账单明细。',
  noCharges: '本月没有消费。',
  noMovements: '本月没有充值或调整。',
  model: '模型',
  unit: '计费单位',
  count: '笔数',
  quantity: '用量',
  amount: '金额',
  token: '令牌',
  date: '日期（UTC）',
  kind: '类型',
  note: '备注',
  total: '合计',
  estimated: '其中估算 {count} 笔',
  tokensInOut: '输入 {input}，输出 {output}',
  cached: '输入中：缓存读取 {read}，缓存写入 {write}',
  unitToken: 'Token',
  unitImage: '张（图片）',
  unitVideoSecond: '秒（视频）',
  unitVideoToken: '视频 Token',
  kindCredit: '充值',
  kindAdjust: '调整',
  noName: '（未命名）',
  rounding:
    '金额精确到货币单位的十亿分之一。两位小数无法完整表示时，先列四舍五入后的金额，再列精确金额。所有合计均按精确金额计算。',
  times: '账期与时间均为 UTC。',
  estimates: '估算：上游未返回用量，由网关自行计数。',
  proofText: '本对账单在结账时签名，涵盖截至第 {number} 号的全部收据。',
  key: '公钥（Ed25519）',
  signature: '签名值',
}

export const pageLanguages = { en, zh } as const
export type PageLanguage = keyof typeof pageLanguages

export const isPageLanguage = (text: string): text is PageLanguage =>
  Object.hasOwn(pageLanguages, text)

/** 'Closed on {date}', { date: … } -> the sentence. */
export const filled = (words: string, values: Readonly<Record<string, string>>): string =>
  words.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
