// All pages: name, path, the group of the menu it is in, the roles that may open it, its shortcut. The
// code of a page is loaded by app.tsx.
import type { IconName } from './components/icon.tsx'
import { defineMessages } from './lib/i18n.ts'
import { hasRole, isStaff, type Role, type Session } from './lib/session.ts'

const groups = ['home', 'operate', 'configure', 'money', 'build', 'system'] as const
type Group = (typeof groups)[number]

export const pageTitles = defineMessages({
  home: ['', ''],
  operate: ['Operate', '运行'],
  configure: ['Configure', '配置'],
  money: ['Billing', '计费'],
  build: ['Develop', '开发'],
  system: ['System', '系统'],
  overview: ['Overview', '概览'],
  tasks: ['Tasks', '任务'],
  requests: ['Requests', '请求'],
  alerts: ['Alerts', '告警'],
  channels: ['Channels', '渠道'],
  models: ['Models', '模型'],
  prices: ['Prices', '价格'],
  tokens: ['API tokens', 'API 令牌'],
  accounts: ['Accounts', '账户'],
  bills: ['Bills', '账单'],
  month: ['Month close', '月结'],
  codes: ['Codes', '兑换码'],
  usage: ['Usage explorer', '用量分析'],
  margins: ['Margins', '毛利'],
  costs: ['Costs', '成本'],
  playground: ['Playground', '调试台'],
  settings: ['Settings', '设置'],
  audit: ['Audit log', '审计日志'],
  health: ['Health', '健康状况'],
  people: ['People', '用户'],
})

export type PageName = IconName & keyof typeof pageTitles

interface PageEntry {
  name: PageName
  path: string
  group: Group
  /** Of members, who see fewer: none of their groups has a single page. */
  ofMembers?: Group
  /** Besides the administrator. */
  roles: readonly Role[]
  /** `g` and this key open it. */
  key: string
}

export const pages: readonly PageEntry[] = [
  {
    name: 'overview',
    path: '/',
    group: 'home',
    roles: ['operator', 'finance', 'member'],
    key: 'o',
  },
  {
    name: 'tasks',
    path: '/tasks',
    group: 'operate',
    roles: ['operator', 'finance', 'member'],
    key: 't',
  },
  {
    name: 'requests',
    path: '/requests',
    group: 'operate',
    roles: ['operator', 'finance', 'member'],
    key: 'r',
  },
  {
    name: 'alerts',
    path: '/alerts',
    group: 'operate',
    roles: ['operator', 'finance'],
    key: 'n',
  },
  {
    name: 'channels',
    path: '/channels',
    group: 'configure',
    roles: ['operator'],
    key: 'c',
  },
  {
    name: 'models',
    path: '/models',
    group: 'configure',
    roles: ['operator', 'finance'],
    key: 'm',
  },
  {
    name: 'prices',
    path: '/prices',
    group: 'configure',
    ofMembers: 'money',
    roles: ['operator', 'finance', 'member'],
    key: 'i',
  },
  {
    name: 'accounts',
    path: '/accounts',
    group: 'money',
    roles: ['operator', 'finance'],
    key: 'e',
  },
  {
    name: 'bills',
    path: '/bills',
    group: 'money',
    roles: ['finance', 'member'],
    key: 'b',
  },
  {
    name: 'month',
    path: '/month',
    group: 'money',
    roles: ['finance'],
    key: 'f',
  },
  {
    name: 'codes',
    path: '/codes',
    group: 'money',
    roles: ['finance'],
    key: 'd',
  },
  {
    name: 'usage',
    path: '/usage',
    group: 'money',
    roles: ['operator', 'finance', 'member'],
    key: 'u',
  },
  {
    name: 'margins',
    path: '/margins',
    group: 'money',
    roles: ['operator', 'finance'],
    key: 'x',
  },
  {
    name: 'costs',
    path: '/costs',
    group: 'money',
    roles: ['operator', 'finance'],
    key: 'v',
  },
  {
    name: 'tokens',
    path: '/tokens',
    group: 'build',
    roles: ['operator', 'member'],
    key: 'k',
  },
  {
    name: 'playground',
    path: '/playground',
    group: 'build',
    roles: ['operator', 'member'],
    key: 'p',
  },
  {
    name: 'settings',
    path: '/settings',
    group: 'system',
    ofMembers: 'build',
    roles: ['operator', 'finance', 'member'],
    key: 's',
  },
  {
    name: 'health',
    path: '/health',
    group: 'system',
    roles: ['operator', 'finance'],
    key: 'h',
  },
  {
    name: 'audit',
    path: '/audit-log',
    group: 'system',
    roles: [],
    key: 'a',
  },
  {
    name: 'people',
    path: '/people',
    group: 'system',
    roles: [],
    key: 'l',
  },
]

/** The pages of a person, group by group; empty groups are left out. */
export function menuOf(session: Session): readonly (readonly [Group, readonly PageEntry[]])[] {
  const shown = pages.filter(({ roles }) => hasRole(session, roles))
  const groupOf = ({ group, ofMembers = group }: PageEntry) =>
    isStaff(session) ? group : ofMembers
  return groups
    .map((group) => [group, shown.filter((page) => groupOf(page) === group)] as const)
    .filter(([, entries]) => entries.length > 0)
}
