// Texts of the fields of a price.
import { defineMessages } from '../../lib/i18n.ts'
import { billingMessages } from '../billing/messages.ts'

export const editorMessages = defineMessages({
  ...billingMessages,
  unit: ['Unit', '单位'],
  amount: ['Price', '价格'],
  bound_of: ['Tier {n}: input up to', '第 {n} 档：输入不超过'],
  no_bound: ['no limit', '无上限'],
  add_tier: ['Add tier', '添加档位'],
  remove_tier: ['Remove tier {n}', '删除第 {n} 档'],
  tools: ['Server tools, per call', '服务端工具（每次调用）'],
  tools_hint: [
    'Tools that the provider runs, such as web_search. A tool without a price is refused.',
    '由上游执行的工具，例如 web_search。未定价的工具会被拒绝。',
  ],
  tool: ['Tool', '工具'],
  per_call: ['Per call', '每次调用'],
  add_tool: ['Add tool', '添加工具'],
  resolution: ['Resolution', '分辨率'],
  add_resolution: ['Add resolution', '添加分辨率'],
  remove_row: ['Remove {name}', '删除 {name}'],
  one_price: ['One price', '统一价'],
  by_size: ['By size', '按尺寸'],
  default_size: ['Size if a request names none', '请求未指定时的尺寸'],
  per_image: ['Per image', '每张'],
})
