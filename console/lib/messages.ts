// Texts that many pages share, and the hook that translates: a page's own texts first, then these.
import { defineMessages, fillIn, type Translate, textIn, useLanguage } from './i18n.ts'
import type { Messages } from './texts.ts'

const common = defineMessages({
  cancel: ['Cancel', '取消'],
  save: ['Save', '保存'],
  close: ['Close', '关闭'],
  show_or_hide: ['Show or hide it', '显示或隐藏'],
  overlays: ['Menus and dialogs', '菜单与对话框'],
  create: ['Create', '新建'],
  delete: ['Delete', '删除'],
  more: ['Load more', '加载更多'],
  again: ['Try again', '重试'],
  copy: ['Copy', '复制'],
  copied: ['Copied', '已复制'],
  search: ['Search or paste an ID', '搜索，或粘贴任意 ID'],
  none: ['No data', '暂无数据'],
  filtered: ['No results match these filters.', '没有符合筛选条件的记录。'],
  clear: ['Clear filters', '清除筛选'],
  add_filter: ['Filter', '筛选'],
  all: ['All', '全部'],
  yes: ['Yes', '是'],
  no: ['No', '否'],
  saved_as: ['Saved: {name}', '已保存：{name}'],
  deleted_as: ['Deleted: {name}', '已删除：{name}'],
  final: ['This cannot be undone.', '此操作无法撤销。'],
  went_wrong: ['Something went wrong', '操作失败'],
  choose_file: ['Choose a file', '选择文件'],
  no_answer: ['The gateway does not answer.', '网关没有响应。'],
  request_id: ['Request ID', '请求 ID'],
  type_name: ['Type “{name}” to confirm', '输入“{name}”以确认'],
  account: ['Account', '账户'],
  token: ['Token', '令牌'],
  model: ['Model', '模型'],
  channel: ['Channel', '渠道'],
  status: ['Status', '状态码'],
  state: ['State', '状态'],
  time: ['Time', '时间'],
  cost: ['Cost', '消费'],
  export_csv: ['Export CSV', '导出 CSV'],
  from: ['From', '从'],
  to: ['To', '至'],
  last_hour: ['Last hour', '最近 1 小时'],
  last_day: ['Last 24 hours', '最近 24 小时'],
  last_week: ['Last 7 days', '最近 7 天'],
  last_month: ['Last 30 days', '最近 30 天'],
  no_permission: ['You do not have permission to view this page.', '你没有权限查看此页面。'],
  columns: ['Columns', '列'],
  default_columns: ['Default columns', '恢复默认列'],
  sort_whole: ['Load all rows to sort by this column', '加载全部记录后可按此列排序'],
  change_filter: ['Change {name}', '修改“{name}”'],
  remove_filter: ['Remove filter “{name}”', '移除筛选“{name}”'],
  views: ['Saved views', '已存视图'],
  save_view: ['Save current filters…', '保存当前筛选…'],
  view_name: ['View name', '视图名称'],
  forget_view: ['Delete view “{name}”', '删除视图“{name}”'],
  newer: ['Show {n} new', '加载新请求（{n}）'],
  privacy: ['Privacy', '隐私模式'],
  hide_names: ['Hide names, prompts and tokens', '隐藏名称、提示词与令牌'],
  show_names: ['Show names, prompts and tokens', '显示名称、提示词与令牌'],
  prompt: ['Prompt', '提示词'],
  tag: ['Tag (name=value)', '标签（name=value）'],
  tags: ['Tags', '标签'],
  require: ['Data policy', '数据政策'],
  end_user: ['End user', '终端用户'],
})

type CommonKey = keyof typeof common

/** `t` of a page: its own texts, and the shared ones. */
export function useMessages<K extends string = never>(
  messages?: Messages<K>,
): Translate<K | CommonKey> {
  const language = useLanguage()
  const own: Messages<string> = messages ?? {}
  return (key, values = {}) => {
    // Keys may be codes of the gateway, and a newer gateway may have codes unknown here.
    const dictionary: Messages<string> = Object.hasOwn(own, key) ? own : common
    const text = Object.hasOwn(dictionary, key) ? textIn(language, dictionary[key]!) : key
    return fillIn(text, values)
  }
}

/** Columns and facts of these names are not for onlookers. */
export const privateColumns = (t: Translate<'account' | 'token' | 'prompt'>): readonly string[] => [
  t('account'),
  t('token'),
  t('prompt'),
]
