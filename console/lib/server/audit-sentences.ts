// What an audit of the ledger found, in Chinese: in the list of its problems, and in alerts, where the
// entry, the receipt or the closed month comes first.
type Rule = readonly [RegExp, string]

const balances: readonly Rule[] = [
  [/^the balance is (\S+), its entries add up to (\S+)$/, '余额为 $1，流水合计为 $2'],
  [/^(\S+) are held, the entries say (\S+)$/, '预留为 $1，流水合计为 $2'],
  [
    /^(\S+) are drawn, the gateways' credit_leases add up to (\S+)$/,
    '已借出 $1，各网关的额度租约合计为 $2',
  ],
  [/^available is below zero$/, '可用余额为负'],
  [/^entries belong to no account$/, '有流水不属于任何账户'],
  [/^rows of (\S+) belong to no account$/, '表 $1 有数据不属于任何账户'],
  [
    /^the entry is no transfer: its kind and its sign do not go together$/,
    '流水的类型与金额正负不符',
  ],
  [/^the sums of the day from (\S+) are not those of its hours$/, '自 $1 起一天的汇总与各小时不符'],
  [
    /^the sums of the hour from (\S+) are not those of its entries$/,
    '自 $1 起一小时的汇总与流水不符',
  ],
  [
    /^the trigger (\S+) that keeps entries from being changed is not there$/,
    '缺少防止流水被改动的触发器 $1',
  ],
]

const charges: readonly Rule[] = [
  [/^the charge is for neither a request nor a task$/, '消费既不属于请求，也不属于任务'],
  [/^the charge has no request row$/, '消费没有对应的请求记录'],
  [/^request row has no charge entry$/, '请求记录没有对应的消费流水'],
  [/^(\S+) are charged, its request row says (\S+)$/, '消费为 $1，请求记录为 $2'],
  [/^charge and request row do not agree$/, '消费与请求记录不一致'],
  [/^charge and task do not agree$/, '消费与任务不一致'],
  [/^hold and task do not agree$/, '预留与任务不一致'],
  [/^the task and its hold are not at one$/, '任务与其预留不一致'],
  [/^the part of a batch and its hold are not at one$/, '批处理的分段与其预留不一致'],
  [/^the task and the request that made it are both charged$/, '任务与创建它的请求均已计费'],
  [/^its hold is older than any task may become$/, '预留时间超过任务的最长时限'],
  [/^a request that ended with (\S+) is charged$/, '以 $1 结束的请求被计费'],
  [/^more was given back than was charged$/, '退款超过消费'],
  [/^its price (\S+) is not there$/, '价格 $1 不存在'],
  [/^its price (\S+) is another account's$/, '价格 $1 属于另一账户'],
  [
    /^(\S+) are charged, price (\S+) times quantity is (\S+)$/,
    '消费为 $1，按价格 $2 乘以用量为 $3',
  ],
  [/^a call is priced by tokens$/, '调用应按 Token 计价'],
  [/^the price of another model that it names is not there$/, '其中另一模型的价格不存在'],
  [/^its request row says more of a part than of the whole$/, '请求记录中部分用量超过总量'],
  [/^the entry has no receipt$/, '流水没有凭据'],
  [/^its request row says no usage$/, '请求记录没有用量'],
  [/^its task says no usage$/, '任务没有用量'],
  [/^its task says more of a part than of the whole$/, '任务中部分用量超过总量'],
  [/^its quantity is (\S+), its task says (\S+)$/, '用量为 $1，任务为 $2'],
  [/^its quantity is (\S+), its request row says (\S+)$/, '用量为 $1，请求记录为 $2'],
  [/^its tier is not '(.*)'$/, '档位不应为“$1”'],
  [/^it is priced by (\S+), not (\S+)$/, '应按 $1 计价，而不是 $2'],
  [/^it says no quantity$/, '没有用量'],
  [/^its quantity is not whole$/, '用量不是整数'],
  [/^its price has no tier '(.*)'$/, '价格没有档位“$1”'],
]

const receipts: readonly Rule[] = [
  [/^receipt (\d+) is gone$/, '凭据 $1 缺失'],
  [/^receipt (\d+) to (\d+) are gone$/, '凭据 $1 至 $2 缺失'],
  [/^the entry of this receipt is gone$/, '此凭据的流水缺失'],
  [/^the entry is of another account$/, '流水属于另一账户'],
  [/^the entry has no receipt$/, '流水没有凭据'],
  [/^the entry has no receipt, and those after it have$/, '流水没有凭据，而其后的流水有'],
  [/^a hold has no receipt$/, '预留不应有凭据'],
  [/^a release has no receipt$/, '释放不应有凭据'],
  [/^the balance after it is (\S+), its receipt says (\S+)$/, '其后余额为 $1，凭据为 $2'],
  [/^the balance after it is (\S+)$/, '其后余额为 $1'],
  [/^what it says is not what its receipt was made of$/, '内容与生成凭据时不同'],
  [/^estimated is neither yes nor no$/, '“估算”既不是“是”也不是“否”'],
  [/^seal (\S+) is gone$/, '封印 $1 缺失'],
  [/^the time of seal (\S+) is not its last entry's$/, '封印 $1 的时间与最后一条流水不符'],
  [
    /^the signature of seal (\S+) is not of this text and this gateway$/,
    '封印 $1 的签名与内容或此网关不符',
  ],
  [/^seal (\S+) vouches for a receipt that is gone$/, '封印 $1 对应的凭据缺失'],
  [/^seal (\S+) vouches for another chain than there is$/, '封印 $1 对应的凭据链与现有的不同'],
  [/^its signature is not of its text and this gateway$/, '签名与内容或此网关不符'],
  [/^its row is not what was signed$/, '记录与签名时不同'],
  [/^it does not end with the receipt it was closed with$/, '最后一份凭据与结账时不同'],
  [/^(\w+) was (.+) and is (.+)$/s, '$1 原为 $2，现为 $3'],
]

const rules = [...balances, ...charges, ...receipts]

const wholes: readonly Rule[] = [
  [/^the closed bill of (\S+) is not what the ledger says: .*$/s, '$1 的已结账单与账本不一致'],
  [/^the closed month (\S+) cannot be made again: (.*)$/s, '已结月份 $1 无法重新生成：$2'],
]

const replaced = (sentence: string, all: readonly Rule[]): string | undefined => {
  const rule = all.find(([pattern]) => pattern.test(sentence))
  return rule && sentence.replace(rule[0], rule[1])
}

/** Where it is, before what it is. */
const placed = /^([^:]+): (.+)$/s

const placeInChinese = (place: string): string =>
  place
    .replace(/^the closed month /, '已结月份 ')
    .replace(/^entry (?=\d)/, '流水 ')
    .replace(/(^|, )receipt (?=\d)/, '$1凭据 ')
    .replaceAll(', ', '，')

function problemInChinese(sentence: string): string | undefined {
  const whole = replaced(sentence, rules)
  if (whole !== undefined) return whole
  const [, place = '', rest = ''] = placed.exec(sentence) ?? []
  const problem = replaced(rest, rules)
  return problem === undefined ? undefined : `${placeInChinese(place)}：${problem}`
}

/** Undefined where no rule knows the sentence. */
export function auditSentenceInChinese(sentence: string): string | undefined {
  const whole = replaced(sentence, wholes) ?? problemInChinese(sentence)
  if (whole !== undefined) return whole
  const problems = sentence.split('; ').map(problemInChinese)
  return problems.includes(undefined) ? undefined : problems.join('；')
}
