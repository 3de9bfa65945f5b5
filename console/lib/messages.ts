// Texts that many pages share, and the hook that translates: a page's own texts first, then these.
import { defineMessages, fillIn, type Messages, type Translate, useLanguage } from './i18n.ts'

const common = defineMessages({
  en: {
    cancel: 'Cancel',
    save: 'Save',
    close: 'Close',
    create: 'Create',
    delete: 'Delete',
    more: 'Load more',
    again: 'Try again',
    copy: 'Copy',
    copied: 'Copied',
    search: 'Search or paste an ID',
    none: 'No data',
    filtered: 'No results match these filters.',
    clear: 'Clear filters',
    add_filter: 'Filter',
    all: 'All',
    yes: 'Yes',
    no: 'No',
    went_wrong: 'Something went wrong',
    request_id: 'Request ID',
    type_name: 'Type “{name}” to confirm',
    account: 'Account',
    token: 'Token',
    model: 'Model',
    channel: 'Channel',
    status: 'Status',
    state: 'State',
    time: 'Time',
    cost: 'Cost',
    export_csv: 'Export CSV',
    from: 'From',
    to: 'To',
    last_hour: 'Last hour',
    last_day: 'Last 24 hours',
    last_week: 'Last 7 days',
    last_month: 'Last 30 days',
    no_permission: 'You do not have permission to view this page.',
    columns: 'Columns',
    views: 'Saved views',
    save_view: 'Save current filters…',
    view_name: 'View name',
    forget_view: 'Delete view “{name}”',
    newer: 'Show {n} new',
    privacy: 'Privacy',
    hide_names: 'Hide names, prompts and tokens',
    show_names: 'Show names, prompts and tokens',
    prompt: 'Prompt',
  },
  zh: {
    cancel: '取消',
    save: '保存',
    close: '关闭',
    create: '新建',
    delete: '删除',
    more: '加载更多',
    again: '重试',
    copy: '复制',
    copied: '已复制',
    search: '搜索，或粘贴任意 ID',
    none: '暂无数据',
    filtered: '没有符合筛选条件的记录。',
    clear: '清除筛选',
    add_filter: '筛选',
    all: '全部',
    yes: '是',
    no: '否',
    went_wrong: '操作失败',
    request_id: '请求 ID',
    type_name: '输入“{name}”以确认',
    account: '账户',
    token: '令牌',
    model: '模型',
    channel: '渠道',
    status: '状态码',
    state: '状态',
    time: '时间',
    cost: '费用',
    export_csv: '导出 CSV',
    from: '从',
    to: '至',
    last_hour: '最近 1 小时',
    last_day: '最近 24 小时',
    last_week: '最近 7 天',
    last_month: '最近 30 天',
    no_permission: '你没有权限查看此页面。',
    columns: '列',
    views: '已存视图',
    save_view: '保存当前筛选…',
    view_name: '视图名称',
    forget_view: '删除视图“{name}”',
    newer: '显示 {n} 条新记录',
    privacy: '隐私模式',
    hide_names: '隐藏名称、提示词与令牌',
    show_names: '显示名称、提示词与令牌',
    prompt: '提示词',
  },
})

type CommonKey = keyof (typeof common)['en']

/** `t` of a page: its own texts, and the shared ones. */
export function useMessages<K extends string = never>(
  messages?: Messages<K>,
): Translate<K | CommonKey> {
  const language = useLanguage()
  const own: Readonly<Record<string, string>> = messages?.[language] ?? {}
  const shared: Readonly<Record<string, string>> = common[language]
  return (key, values = {}) => {
    // Keys may be codes of the gateway, and a newer gateway may have codes unknown here.
    const dictionary = Object.hasOwn(own, key) ? own : shared
    return fillIn(Object.hasOwn(dictionary, key) ? dictionary[key]! : key, values)
  }
}

/** Columns and facts of these names are not for onlookers. */
export const privateColumns = (t: Translate<'account' | 'token' | 'prompt'>): readonly string[] => [
  t('account'),
  t('token'),
  t('prompt'),
]
