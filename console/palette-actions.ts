// What the command palette can do besides going somewhere: it opens the form of a new thing, or does what needs no form.
// Only what the role of the person may do.
import { useMantineColorScheme } from '@mantine/core'
import { useSignOut } from './components/person-menu.tsx'
import { defineMessages, setLanguage, useLanguage } from './lib/i18n.ts'
import { useMessages } from './lib/messages.ts'
import { usePrivacy } from './lib/privacy.ts'
import { hasRole, type Role, useSession } from './lib/session.ts'

const messages = defineMessages({
  new_token: ['New token', '新建令牌'],
  new_account: ['New account', '新建账户'],
  new_channel: ['New channel', '新建渠道'],
  add_model: ['Add model', '添加模型'],
  set_price: ['Set a price', '设置价格'],
  new_codes: ['New codes', '生成兑换码'],
  invite: ['Invite person', '邀请用户'],
  refund_request: ['Refund request {id}', '退款：请求 {id}'],
  refund_task: ['Refund task {id}', '退款：任务 {id}'],
  set_price_of: ['Set the price of {model}', '设置 {model} 的价格'],
  theme_light: ['Switch theme: light', '切换主题：浅色'],
  theme_dark: ['Switch theme: dark', '切换主题：深色'],
  theme_auto: ['Switch theme: as the system', '切换主题：跟随系统'],
  language: ['Switch language: 中文', '切换语言：English'],
  sign_out: ['Sign out', '退出登录'],
  action: ['Action', '操作'],
})

export interface Action {
  title: string
  /** What it is. */
  note: string
  /** A page of the console, or what is done here. */
  act: string | (() => unknown)
}

interface Form {
  name:
    | 'new_token'
    | 'new_account'
    | 'new_channel'
    | 'add_model'
    | 'set_price'
    | 'new_codes'
    | 'invite'
  path: string
  /** Besides the administrator. */
  roles: readonly Role[]
  /** As else people call it. */
  synonyms: string
}

const forms: readonly Form[] = [
  {
    name: 'new_token',
    path: '/tokens?new=1',
    roles: ['operator', 'member'],
    synonyms: 'add api key create',
  },
  { name: 'new_account', path: '/accounts?new=1', roles: [], synonyms: 'add customer create 客户' },
  {
    name: 'new_channel',
    path: '/channels?new=1',
    roles: ['operator'],
    synonyms: 'add a channel upstream create 添加',
  },
  {
    name: 'add_model',
    path: '/models?add=hand',
    roles: ['operator'],
    synonyms: 'add a model new create 新建',
  },
  { name: 'set_price', path: '/prices', roles: ['finance'], synonyms: 'new price 定价' },
  {
    name: 'new_codes',
    path: '/codes?new=1',
    roles: ['finance'],
    synonyms: 'add create credit 新建',
  },
  {
    name: 'invite',
    path: '/people?invite=1',
    roles: [],
    synonyms: 'invite a person add new user 新建',
  },
]

const themes = ['light', 'dark', 'auto'] as const

/** What fits a text: every word of it is in the title, or among what people else call it. */
export function useActions(text: string): Action[] {
  const t = useMessages(messages)
  const session = useSession()
  const language = useLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [isPrivate, togglePrivacy] = usePrivacy()
  const signOut = useSignOut()
  const all: readonly (readonly [title: string, synonyms: string, act: Action['act']])[] = [
    ...forms
      .filter(({ roles }) => hasRole(session, roles))
      .map(({ name, path, synonyms }) => [t(name), synonyms, path] as const),
    ...themes
      .filter((theme) => theme !== colorScheme)
      .map((theme) => [t(`theme_${theme}`), 'mode', () => setColorScheme(theme)] as const),
    [t('language'), 'english chinese 中文', () => setLanguage(language === 'zh' ? 'en' : 'zh')],
    [t(isPrivate ? 'show_names' : 'hide_names'), 'privacy', togglePrivacy],
    [t('sign_out'), 'log out', signOut],
  ]
  const wanted = text.toLowerCase().split(/\s+/)
  return all
    .filter(([title, synonyms]) =>
      wanted.every((word) => `${title} ${synonyms}`.toLowerCase().includes(word)),
    )
    .map(([title, , act]) => ({ title, note: t('action'), act }))
}

const isTask = /^(?:task|video|image)_/
const isRequest = /^req_/

/** What can be done to what has this ID. */
export function useActionsOn(id: string): Action[] {
  const t = useMessages(messages)
  const session = useSession()
  const kind = isTask.test(id) ? 'task' : isRequest.test(id) ? 'request' : undefined
  if (kind === undefined || !hasRole(session, ['finance'])) return []
  const act = `/${kind}s?open=${encodeURIComponent(id)}&refund=1`
  return [{ title: t(`refund_${kind}`, { id }), note: t('action'), act }]
}

/** The form of a new version, for models that were found. */
export function usePriceActions(): (model: string) => Action[] {
  const t = useMessages(messages)
  const session = useSession()
  return (model) => {
    if (!hasRole(session, ['finance'])) return []
    const act = `/prices?open=${encodeURIComponent(model)}&new=1`
    return [{ title: t('set_price_of', { model }), note: t('action'), act }]
  }
}
