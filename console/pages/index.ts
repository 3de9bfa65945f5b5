// All pages: where each is, who may see it, and the file that is loaded when somebody goes there.
import type { ComponentType } from 'react'
import type { Role } from '../lib/session.ts'
import { defineWords } from '../lib/words.ts'
import type { IconName } from '../parts/icon.tsx'

export const groups = ['home', 'operate', 'configure', 'money', 'build', 'system'] as const
export type Group = (typeof groups)[number]

export const pageWords = defineWords({
  en: {
    home: '',
    operate: 'Operate',
    configure: 'Configure',
    money: 'Money',
    build: 'Build',
    system: 'System',
    overview: 'Overview',
    tasks: 'Task centre',
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
    money: '费用',
    build: '开发',
    system: '系统',
    overview: '概览',
    tasks: '任务中心',
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
    people: '人员',
  },
})

export interface PageRow {
  name: IconName & keyof (typeof pageWords)['en']
  path: string
  group: Group
  /** Besides the administrator. */
  roles: readonly Role[]
  /** Goes there after `g`. */
  key: string
  load: () => Promise<{ default: ComponentType }>
}

export const pages: readonly PageRow[] = [
  {
    name: 'overview',
    path: '/',
    group: 'home',
    roles: ['operator', 'finance', 'member'],
    key: 'o',
    load: () => import('./overview/index.tsx'),
  },
  {
    name: 'tasks',
    path: '/tasks',
    group: 'operate',
    roles: ['operator', 'finance', 'member'],
    key: 't',
    load: () => import('./tasks/index.tsx'),
  },
  {
    name: 'requests',
    path: '/requests',
    group: 'operate',
    roles: ['operator', 'finance', 'member'],
    key: 'r',
    load: () => import('./requests/index.tsx'),
  },
  {
    name: 'channels',
    path: '/channels',
    group: 'configure',
    roles: ['operator'],
    key: 'c',
    load: () => import('./channels/index.tsx'),
  },
  {
    name: 'prices',
    path: '/prices',
    group: 'configure',
    roles: ['operator', 'finance'],
    key: 'm',
    load: () => import('./prices/index.tsx'),
  },
  {
    name: 'tokens',
    path: '/tokens',
    group: 'configure',
    roles: ['operator', 'member'],
    key: 'k',
    load: () => import('./tokens/index.tsx'),
  },
  {
    name: 'bills',
    path: '/bills',
    group: 'money',
    roles: ['finance', 'member'],
    key: 'b',
    load: () => import('./bills/index.tsx'),
  },
  {
    name: 'usage',
    path: '/usage',
    group: 'money',
    roles: ['operator', 'finance', 'member'],
    key: 'u',
    load: () => import('./usage/index.tsx'),
  },
  {
    name: 'exports',
    path: '/exports',
    group: 'money',
    roles: ['operator', 'finance', 'member'],
    key: 'e',
    load: () => import('./exports/index.tsx'),
  },
  {
    name: 'playground',
    path: '/playground',
    group: 'build',
    roles: ['operator', 'member'],
    key: 'p',
    load: () => import('./playground/index.tsx'),
  },
  {
    name: 'settings',
    path: '/settings',
    group: 'system',
    roles: ['operator', 'finance', 'member'],
    key: 's',
    load: () => import('./settings/index.tsx'),
  },
  {
    name: 'health',
    path: '/health',
    group: 'system',
    roles: ['operator', 'finance'],
    key: 'h',
    load: () => import('./health/index.tsx'),
  },
  {
    name: 'audit',
    path: '/audit-log',
    group: 'system',
    roles: [],
    key: 'a',
    load: () => import('./audit/index.tsx'),
  },
  {
    name: 'people',
    path: '/people',
    group: 'system',
    roles: [],
    key: 'l',
    load: () => import('./people/index.tsx'),
  },
]
