// Sentences of the gateway about refunds, about closing months and sending bills, and about public price files, in Chinese.
type Rule = readonly [RegExp, string]

export const moneySentences: readonly Rule[] = [
  [/^refunded on (\S+): (\S+) \((.*)\)$/s, '$1 退款：$2（$3）'],
  [
    /^(\S+) of (.+) has charges or credits and is open: close it first$/,
    '$2 的 $1 有消费或充值且未结账，请先结账该月',
  ],
  [/^(\d+) entries have no receipt yet; try again in a moment$/, '$1 条流水尚无凭据，请稍后重试'],
  [
    /^the bill of (\S+) ends with (\S+), the ledger with (\S+): .*$/,
    '$1 的账单期末为 $2，账本为 $3：此前已结账的月份与账本不一致，请查看其账单',
  ],
  [
    /^e-mail cannot be sent: (.+) must be set where the gateway starts$/,
    '无法发送邮件：启动网关时须设置 $1',
  ],
  [/^bills are being sent already; .*$/, '账单正在发送中，请稍后查看进度'],
  [
    /^the closed bill is not what the ledger says; see the bill$/,
    '已结账的账单与账本不一致，请查看该账单',
  ],
  [/^rounded to 0: use more decimals: (.+)$/, '四舍五入后为 0，请增加小数位数：$1'],
  [/^left out: it has no price(?: by tokens)?: (.+)$/, '未导入，没有（按 Token 的）价格：$1'],
  [/^left out: no name can be made of it: (.+)$/, '未导入，无法生成模型名称：$1'],
  [
    /^left out: another provider of the same model is listed; .*?: (.+)$/,
    '未导入，同一模型已取自另一提供商（可按提供商筛选）：$1',
  ],
  [/^left out: its price is larger than amounts can be: (.+)$/, '未导入，价格超出金额上限：$1'],
  [
    /^left out: its images are priced by pixels, which have no unit here: (.+)$/,
    '未导入，图片按像素计价，此处没有对应单位：$1',
  ],
  [
    /^left out: models of the mode (\S+) have no unit here: (.+)$/,
    '未导入，$1 类模型在此没有计价单位：$2',
  ],
  [/^left out: it makes (.+?), priced by tokens: (.+)$/, '未导入，输出 $1 并按 Token 计价：$2'],
  [
    /^not carried: (\S+) \(reasoning is charged as output\): (.+)$/,
    '未导入字段 $1（推理 Token 按输出计费）：$2',
  ],
  [/^not carried: (\S+)(?: \((.+?)\))?: (.+)$/, '未导入字段 $1：$3'],
]
