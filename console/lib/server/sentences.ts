// Sentences of the gateway in Chinese: the arithmetic of a charge, why a model cannot be called, why a
// price cannot be previewed, why a channel was not imported or not asked. The gateway writes them in
// English; sentences of another shape stay as they are.
import { auditSentenceInChinese } from './audit-sentences.ts'
import { moneySentences } from './money-sentences.ts'

type Rules = readonly (readonly [RegExp, string])[]

/** Of a charge by tokens. */
const tokenRules: Rules = [
  [/^tier (\d+) of (\d+) \(up to (\S+)\), .*$/, '第 $1 档，共 $2 档（不超过 $3），按输入总量'],
  [/^tier (\d+) of (\d+) \(.*\), .*$/, '第 $1 档，共 $2 档（无上限），按输入总量'],
  [/^input: (\S+) x (\S+) per million = (\S+)$/, '输入：$1 × $2 / 百万 = $3'],
  [/^output: (\S+) x (\S+) per million = (\S+)$/, '输出：$1 × $2 / 百万 = $3'],
  [/^cache_read: (\S+) x (\S+) per million = (\S+)$/, '缓存读取：$1 × $2 / 百万 = $3'],
  [/^cache_write: (\S+) x (\S+) per million = (\S+)$/, '缓存写入：$1 × $2 / 百万 = $3'],
  [
    /^cache_write_1h: (\S+) x (\S+) per million = (\S+)$/,
    '缓存写入（1 小时）：$1 × $2 / 百万 = $3',
  ],
  [/^input_audio: (\S+) x (\S+) per million = (\S+)$/, '音频输入：$1 × $2 / 百万 = $3'],
  [/^input_image: (\S+) x (\S+) per million = (\S+)$/, '图像输入：$1 × $2 / 百万 = $3'],
  [/^output_audio: (\S+) x (\S+) per million = (\S+)$/, '音频输出：$1 × $2 / 百万 = $3'],
  [/^output_image: (\S+) x (\S+) per million = (\S+)$/, '图像输出：$1 × $2 / 百万 = $3'],
  [/^service_tier (\S+): tokens x (\S+)$/, '服务等级 $1：Token × $2'],
  [/^service_tier (\S+): tokens of (\S+) x (\S+)$/, '服务等级 $1：$2 的 Token × $3'],
  [/^geo (\S+): tokens x (\S+)$/, '地区 $1：Token × $2'],
  [/^geo (\S+): tokens of (\S+) x (\S+)$/, '地区 $1：$2 的 Token × $3'],
  [/^hours (.+): everything x (\S+)$/, '时段 $1：全部 × $2'],
  [/^hours (.+): everything of (\S+) x (\S+)$/, '时段 $1：$2 的全部 × $3'],
  [/^(\w+): (\d+) calls x (\S+) = (\S+)$/, '$1：$2 次调用 × $3 = $4'],
]

const rules: Rules = [
  ...moneySentences,
  [
    /^usage: (\S+) input tokens \((\S+) read from cache, (\S+) written to cache\), (\S+) output tokens$/,
    '用量：输入 $1 Token（缓存读取 $2，缓存写入 $3），输出 $4 Token',
  ],
  [/^part of it was charged by prices of other models$/, '部分用量按其他模型的价格计费'],
  [/^sum (\S+), rounded half up to (\S+) (\S+)$/, '合计 $1，四舍五入为 $2 $3'],
  [/^as reported: (\S+) tokens in, (\S+) out$/, '上报用量：输入 $1 Token，输出 $2 Token'],
  [
    /^the upstream counts cached tokens inside (\S+), which is the whole input$/,
    '上游将缓存 Token 计入 $1，即输入总量',
  ],
  [
    /^the upstream counts cached tokens (?:apart|separately): (\S+) \+ (\S+) read \+ (\S+) written = (\S+) input tokens$/,
    '上游单独统计缓存 Token：$1 + 读取 $2 + 写入 $3 = 输入 $4 Token',
  ],
  [
    /^(\S+) (?:pictures|images?) of (\S+) x (\S+) = (\S+) (\S+), rounded half up$/,
    '$1 张 $2 图片 × $3 = $4 $5（四舍五入）',
  ],
  [
    /^(\S+) (?:pictures|images?) x (\S+) = (\S+) (\S+), rounded half up$/,
    '$1 张图片 × $2 = $3 $4（四舍五入）',
  ],
  [
    /^(\S+) seconds? at (\S+) x (\S+) = (\S+) (\S+), rounded half up$/,
    '$1 秒 $2 视频 × $3 = $4 $5（四舍五入）',
  ],
  [
    /^(\S+) video tokens? x (\S+) per million = (\S+) (\S+), rounded half up$/,
    '$1 视频 Token × $2 / 百万 = $3 $4（四舍五入）',
  ],
  [
    /^(\S+) search(?:es)? x (\S+) per search = (\S+) (\S+), rounded half up$/,
    '$1 次检索 × $2 = $3 $4（四舍五入）',
  ],
  [
    /^(\S+) characters? x (\S+) per million = (\S+) (\S+), rounded half up$/,
    '$1 字符 × $2 / 百万 = $3 $4（四舍五入）',
  ],
  [
    /^(\S+) seconds? of audio x (\S+) per minute = (\S+) (\S+), rounded half up$/,
    '$1 秒音频 × $2 / 分钟 = $3 $4（四舍五入）',
  ],
  [/^calls of this model x (\S+) = (\S+) (\S+), rounded half up$/, '此模型免费：$2 $3'],
  [/^set aside when it was made: (\S+) (\S+)$/, '创建时预留：$1 $2'],
  [/^nothing was charged: the task is cancelled$/, '未产生消费：任务已取消'],
  [/^nothing was charged: the task is failed$/, '未产生消费：任务失败'],
  [/^nothing was charged: the task is \w+$/, '尚未产生消费：任务未结束'],
  [/^nothing was charged: refused$/, '未产生消费：被网关拒绝'],
  [/^nothing was charged: failed$/, '未产生消费：上游失败'],
  [/^nothing was charged: caller_left$/, '未产生消费：调用方断开'],
  [/^nothing was charged: (.+)$/s, '未产生消费：$1'],
  [
    /^the upstream reported no usable usage; the gateway counted the text$/,
    '上游未上报可用的用量，由网关统计文本',
  ],
  [/^the upstream reported no usage; what was asked for counts$/, '上游未上报用量，按请求内容计费'],
  [
    /^not covered by the balance and carried by the operator: (?:about )?(\S+)$/,
    '余额不足以支付、由平台承担：$1',
  ],
  [
    /^reported by channel (.+) above what the request allows and the answer shows, and carried by the operator: (?:about )?(\S+)$/,
    '渠道 $1 上报的用量超过请求所允许及回答所含的用量，由平台承担：$2',
  ],
  [
    /^done by channel (.+), which failed after it had begun, and carried by the operator: (?:about )?(\S+)$/,
    '渠道 $1 开始后失败，由平台承担：$2',
  ],
  [
    /^done by channel (.+), of no use to a caller who had left, and carried by the operator: (?:about )?(\S+)$/,
    '渠道 $1 已完成但调用方已断开，由平台承担：$2',
  ],
  [
    /^done by channel (.+), but not handed over, and carried by the operator: (?:about )?(\S+)$/,
    '渠道 $1 已完成但结果未能交付，由平台承担：$2',
  ],
  [
    /^done by channel (.+), but too late, and carried by the operator: (?:about )?(\S+)$/,
    '渠道 $1 完成过晚，由平台承担：$2',
  ],
  [
    /^done by channel (.+), as far as anybody knows, and carried by the operator: (?:about )?(\S+)$/,
    '渠道 $1 可能已完成，由平台承担：$2',
  ],
  [
    /^done by channel (.+), although it had not been requested, and carried by the operator: (?:about )?(\S+)$/,
    '渠道 $1 执行了未经请求的工作，由平台承担：$2',
  ],
  [/^as reported, and no more than was asked for: (\S+) x image$/, '上报用量（不超过请求）：$1 张'],
  [
    /^as reported, and no more than was asked for: (\S+) x video second$/,
    '上报用量（不超过请求）：$1 秒',
  ],
  [
    /^as reported, and no more than was asked for: (\S+) x video token$/,
    '上报用量（不超过请求）：$1 视频 Token',
  ],
  [
    /^translated from (\S+) to (\S+); usage is the upstream's own$/,
    '由 $1 转换为 $2；用量以上游为准',
  ],
  [
    /^translated from (\S+) to (\S+); changed or left out: (.+); usage is the upstream's own$/,
    '由 $1 转换为 $2；有改动或省略：$3；用量以上游为准',
  ],
  [
    /^the channel sets marks for the upstream's prompt cache: (\d+) added to the request$/,
    '渠道为上游提示词缓存添加标记：本次添加 $1 个',
  ],
  [/^a new conversation, placed at (.+); known by (.+)$/, '新会话，安排在 $1；识别依据：$2'],
  [/^its conversation was kept at (.+); known by (.+)$/, '会话保持在 $1；识别依据：$2'],
  [
    /^its conversation was moved to (.+) \((\w+)\); known by (.+)$/,
    '会话移至 $1（$2）；识别依据：$3',
  ],
  [/^'(.+)' was served by (\S+)$/, '“$1”由 $2 提供服务'],
  [/^'(.+)' was served by (\S+); (.+)$/, '“$1”由 $2 提供服务；$3'],
  [
    /^channel '(.+)' is down: its circuit is open: calls fail$/,
    '渠道“$1”不可用：调用持续失败，已熔断',
  ],
  [
    /^(\d+) of (\d+) requests of model '(.+)' failed within (\S+) s, more than (\S+) %$/,
    '模型“$3”在 $4 秒内 $2 个请求中有 $1 个失败，超过 $5%',
  ],
  [
    /^(\d+) of (\d+) requests on channel '(.+)' failed within (\S+) s, more than (\S+) %$/,
    '渠道“$3”在 $4 秒内 $2 个请求中有 $1 个失败，超过 $5%',
  ],
  [
    /^(\d+) of (\d+) tasks of model '(.+)' on channel '(.+)' failed within 10 minutes$/,
    '模型“$3”在渠道“$4”上 10 分钟内 $2 个任务中有 $1 个失败',
  ],
  [/^channel '(.+)' is down: all its keys are rejected$/, '渠道“$1”不可用：所有密钥均被拒绝'],
  [/^no channel serves it$/, '没有渠道提供此模型'],
  [/^it has no price in force$/, '没有生效的价格'],
  [/^no channel serves it, and it has no price in force$/, '没有渠道提供此模型，也没有生效的价格'],
  [
    /^model '(.+)' is served by a channel but has no price in force, so it cannot be called$/,
    '渠道提供模型“$1”，但没有生效的价格，因此无法调用',
  ],
  [
    /^a loss of (\S+) in all for account (\S+) \((\w+)\) since this gateway started, the last for (\S+); listed at \/losses$/,
    '账户 $2 自网关启动以来发生 1 笔平台损失（$3），共 $1，最近一笔为 $4',
  ],
  [
    /^(\d+) losses of (\S+) in all for account (\S+) \((\w+)\) since this gateway started, the last for (\S+); listed at \/losses$/,
    '账户 $3 自网关启动以来发生 $1 笔平台损失（$4），共 $2，最近一笔为 $5',
  ],
  [
    /^channel '(.+)' reported (\d+) input and (\d+) output tokens for (\S+) \(model '(.+)'\), which allows (\d+) and (\d+); charged at that$/,
    '渠道“$1”为 $4（模型“$5”）上报输入 $2、输出 $3 Token，超过上限 $6 与 $7，已按上限计费',
  ],
  [
    /^channel '(.+)' reported (\d+) input and (\d+) output tokens for (\S+) \(model '(.+)'\), which allows (\d+) and (\d+); charged for (\d+) and (\d+), the rest is a loss$/,
    '渠道“$1”为 $4（模型“$5”）上报输入 $2、输出 $3 Token，超过上限 $6 与 $7，按 $8 与 $9 计费，其余计为平台损失',
  ],
  [
    /^channel '(.+)' reported (\S+) of (\w+) for task (\S+) of (\S+); at most (\S+) are possible and were charged$/,
    '渠道“$1”为任务 $4（模型 $5）上报 $2（$3），最多可能为 $6，已按此计费',
  ],
  [
    /^the void journal could not be written: is the data directory full or read-only\?$/,
    '无法写入作废日志：请检查数据目录是否已满或只读',
  ],
  [/^there is no general price$/, '没有通用价格'],
  [/^charged by (\w+), drafted by (\w+)$/, '按 $1 计费，草案按 $2 计价'],
  [/^the draft has no price for (\S+)$/, '草案没有 $1 的价格'],
  [/^the usage is not on record$/, '没有用量记录'],
  [/^no protocol of this channel has a list of models to ask for$/, '此渠道的协议均不提供模型列表'],
  [/^the upstream failed$/, '上游出错'],
  [
    /^channel '(.+)' is declared in the configuration file; change it there$/,
    '渠道“$1”由配置文件声明，请在文件中修改',
  ],
  [/^channel '(.+)' belongs to the gateway itself$/, '渠道“$1”属于网关本身'],
  [/^region is (\S+), but this gateway's region is (\S+)$/, '渠道区域为 $1，而此网关的区域为 $2'],
  [/^there is a channel '(.+)' already$/, '已存在渠道“$1”'],
  [
    /^keys must be given again: the stored ones were not given for (\S+)$/,
    '需要重新提供密钥：已保存的密钥不是为 $1 提供的',
  ],
  [
    /^auth must be given again where vertex names a project or is new$/,
    '更改项目或首次设置 Vertex 时，需要重新提供账号',
  ],
  [
    /^vertex needs project: the account does not name one$/,
    'Vertex 需要项目：该账号未指明所属项目',
  ],
]

function byRules(known: Rules, sentence: string): string | undefined {
  const rule = known.find(([pattern]) => pattern.test(sentence))
  return rule && sentence.replace(rule[0], rule[1])
}

/** The product of a line of the arithmetic, with the hours that multiply it. */
const timesHours = / x ([\d.]+) \(hours (.+)\) = /

/** Undefined where no rule knows the sentence. */
export function sentenceInChinese(sentence: string): string | undefined {
  const hours = timesHours.exec(sentence)
  if (hours !== null) {
    const plain = byRules(rules, sentence.replace(timesHours, ' = '))
    return plain?.replace(' = ', () => ` × ${hours[1]}（时段 ${hours[2]}） = `)
  }
  return tokensInChinese(sentence) ?? byRules(rules, sentence) ?? auditSentenceInChinese(sentence)
}

/** A line about tokens: of a charge by several models it begins with the name of one. */
function tokensInChinese(sentence: string): string | undefined {
  const own = byRules(tokenRules, sentence)
  const space = sentence.indexOf(' ')
  if (own !== undefined || space < 0) return own
  const line = byRules(tokenRules, sentence.slice(space + 1))
  return line && `${sentence.slice(0, space)} ${line}`
}
