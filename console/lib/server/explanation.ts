// The arithmetic of a charge in Chinese: the gateway writes it in English, one line for each step. Lines
// of another shape stay as they are.
const rules: readonly (readonly [RegExp, string])[] = [
  [
    /^usage: (\S+) input tokens \((\S+) read from cache, (\S+) written to cache\), (\S+) output tokens$/,
    '用量：输入 $1 Token（缓存读取 $2，缓存写入 $3），输出 $4 Token',
  ],
  [/^tier (\d+) of (\d+) \(up to (\S+)\), .*$/, '第 $1 档，共 $2 档（不超过 $3），按输入总量'],
  [/^tier (\d+) of (\d+) \(.*\), .*$/, '第 $1 档，共 $2 档（无上限），按输入总量'],
  [/^input: (\S+) x (\S+) per million = (\S+)$/, '输入：$1 × $2 / 百万 = $3'],
  [/^output: (\S+) x (\S+) per million = (\S+)$/, '输出：$1 × $2 / 百万 = $3'],
  [/^cache_read: (\S+) x (\S+) per million = (\S+)$/, '缓存读取：$1 × $2 / 百万 = $3'],
  [/^cache_write: (\S+) x (\S+) per million = (\S+)$/, '缓存写入：$1 × $2 / 百万 = $3'],
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
    /^(\S+) (?:pictures|images) of (\S+) x (\S+) = (\S+) (\S+), rounded half up$/,
    '$1 张 $2 图片 × $3 = $4 $5（四舍五入）',
  ],
  [
    /^(\S+) (?:pictures|images) x (\S+) = (\S+) (\S+), rounded half up$/,
    '$1 张图片 × $2 = $3 $4（四舍五入）',
  ],
  [
    /^(\S+) seconds at (\S+) x (\S+) = (\S+) (\S+), rounded half up$/,
    '$1 秒 $2 视频 × $3 = $4 $5（四舍五入）',
  ],
  [
    /^(\S+) video tokens x (\S+) per million = (\S+) (\S+), rounded half up$/,
    '$1 视频 Token × $2 / 百万 = $3 $4（四舍五入）',
  ],
]

/** Undefined where no rule knows the line. */
export function explanationInChinese(step: string): string | undefined {
  const rule = rules.find(([pattern]) => pattern.test(step))
  return rule && step.replace(rule[0], rule[1])
}
