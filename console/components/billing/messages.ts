// Texts about prices and charges that several pages show.
import { defineMessages } from '../../lib/i18n.ts'

export const billingMessages = defineMessages({
  token: ['million tokens', '百万 Token'],
  image: ['image', '张'],
  video_second: ['second', '秒'],
  video_token: ['million video tokens', '百万视频 Token'],
  input: ['Input', '输入'],
  output: ['Output', '输出'],
  cache_read: ['Cache read', '缓存读取'],
  cache_write: ['Cache write', '缓存写入'],
  cache_write_1h: ['Cache write, 1 hour', '缓存写入（1 小时）'],
  up_to: ['up to {n} input tokens', '输入不超过 {n} Token'],
  above: ['above', '以上'],
  tool_call: ['{tool} {amount} / call', '{tool} {amount} / 次'],
  default: ['general price applies again', '恢复通用价格'],
  missing: ['No price', '未定价'],
  source_builtin: ['built-in', '内置'],
  source_file: ['file', '配置文件'],
  source_api: ['console', '控制台'],
  why: ['How the charge was calculated', '消费计算过程'],
  price_version: ['Price version', '价格版本'],
  effective_from: ['Effective from', '生效时间'],
  tier: ['Tier', '档位'],
  entries: ['Ledger entries', '账本流水'],
})
