// All pages: name, path, the group of the menu it is in, the roles that may open it, its shortcut. The
// code of a page is loaded by app.tsx.
import type { IconName } from './components/icon.tsx'
import { defineMessages } from './lib/i18n.ts'
import type { Role } from './lib/session.ts'

export const groups = ['home', 'operate', 'configure', 'money', 'build', 'system'] as const
type Group = (typeof groups)[number]

export const pageTitles = defineMessages({
  en: {
    home: '',
    operate: 'Operate',
    configure: 'Configure',
    money: 'Billing',
    build: 'Develop',
    system: 'System',
    overview: 'Overview',
    tasks: 'Tasks',
    requests: 'Requests',
    channels: 'Channels',
    prices: 'Models & prices',
    tokens: 'Tokens',
    bills: 'Bills',
    usage: 'Usage explorer',
    exports: 'Exports',
    playground: 'Playground',
    settings: 'Settings',
    audit: 'Audit log',
    health: 'Health',
    people: 'People',
  },
  zh: {
    home: '',
    operate: '运行',
    configure: '配置',
    money: '计费',
    build: '开发',
    system: '系统',
    overview: '概览',
    tasks: '任务',
    requests: '请求',
    channels: '渠道',
    prices: '模型与价格',
    tokens: '令牌',
    bills: '账单',
    usage: '用量分析',
    exports: '导出',
    playground: '调试台',
    settings: '设置',
    audit: '审计日志',
    health: '健康状况',
    people: '用户',
  },
})

export type PageName = IconName & keyof (typeof pageTitles)['en']

interface PageEntry {
  name: PageName
  path: string
  group: Group
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
    name: 'channels',
    path: '/channels',
    group: 'configure',
    roles: ['operator'],
    key: 'c',
  },
  {
    name: 'prices',
    path: '/prices',
    group: 'configure',
    roles: ['operator', 'finance'],
    key: 'm',
  },
  {
    name: 'tokens',
    path: '/tokens',
    group: 'configure',
    roles: ['operator', 'member'],
    key: 'k',
  },
  {
    name: 'bills',
    path: '/bills',
    group: 'money',
    roles: ['finance', 'member'],
    key: 'b',
  },
  {
    name: 'usage',
    path: '/usage',
    group: 'money',
    roles: ['operator', 'finance', 'member'],
    key: 'u',
  },
  {
    name: 'exports',
    path: '/exports',
    group: 'money',
    roles: ['operator', 'finance', 'member'],
    key: 'e',
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
