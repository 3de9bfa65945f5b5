// Every page of the console and every drawer, dialog, menu and tab on it, opened as a person does. A crawl
// walks through them; `see` is where it looks.
import { type BusyGateway, lastMonth, longAccount, longChannel, longModel } from './busy.ts'

export interface Walk {
  gateway: BusyGateway
  at(path: string): Promise<void>
  /** Button, tab, menu item or option of this name. */
  press(en: string, zh: string): Promise<void>
  /** The row that has this text. */
  row(text: string): Promise<void>
  fill(en: string, zh: string, value: string): Promise<void>
  choose(en: string, zh: string, option: string): Promise<void>
  see(name: string): Promise<void>
  /** All tabs of what is in front, one after the other. */
  tabs(name: string): Promise<void>
}

type View = (walk: Walk) => Promise<void>

const page =
  (path: string, name: string): View =>
  async ({ at, see }) => {
    await at(path)
    await see(name)
  }

/** A page, what is pressed there, and a look at what opens. */
const pressed =
  (path: string, name: string, ...words: readonly (readonly [string, string])[]): View =>
  async ({ at, press, see }) => {
    await at(path)
    for (const [en, zh] of words) await press(en, zh)
    await see(name)
  }

const overview: readonly View[] = [
  page('/', 'overview'),
  page('/?range=month', 'overview-month'),
  pressed('/', 'search', ['Search or paste an ID', '搜索，或粘贴任意 ID']),
  pressed('/', 'user-menu', ['ada', 'ada']),
  pressed('/', 'shortcuts', ['ada', 'ada'], ['Keyboard shortcuts', '快捷键']),
]

const operate: readonly View[] = [
  page('/tasks', 'tasks'),
  page('/tasks?view=gallery', 'tasks-gallery'),
  page('/tasks?view=batches', 'tasks-batches'),
  pressed('/tasks', 'tasks-statistics', ['Statistics', '统计']),
  async ({ at, see, press, gateway }) => {
    await at(`/tasks?open=${gateway.told}`)
    await see('task-callback')
    await at(`/tasks?open=${gateway.failed}`)
    await see('task-failed')
    await press('Run again', '重新运行')
    await see('task-rerun')
    await at(`/tasks?open=${await gateway.makeSlow()}`)
    await see('task-slow')
    await press('Cancel task', '取消任务')
    await see('task-cancel')
  },
  page('/requests', 'requests'),
  pressed('/requests?status=502', 'requests-filter', ['+ Filter', '+ 筛选']),
  pressed('/requests', 'requests-columns', ['Columns', '列']),
  pressed('/requests', 'requests-export', ['Export', '导出']),
  pressed('/requests', 'requests-latency', ['Latency', '耗时分布']),
  page('/requests?model=none', 'requests-none'),
  async ({ at, see, press, gateway }) => {
    await at(`/requests?open=${gateway.refused}`)
    await see('request-failed')
    await at(`/requests?open=${gateway.good}`)
    await see('request-good')
    await press('Refund', '退款')
    await see('refund')
  },
  async ({ at, tabs, press, see }) => {
    await at('/alerts')
    await tabs('alerts')
    await press('Subscriptions', '通知订阅')
    await press('New subscription', '新建订阅')
    await press('Error rate (by rules)', '错误率（按规则）')
    await see('subscription-new')
  },
  async ({ at, press, row, see }) => {
    await at('/alerts?tab=subscriptions')
    await row('/hook/notices')
    await see('subscription')
    await press('Edit', '编辑')
    await see('subscription-edit')
  },
  async ({ at, press, row, see }) => {
    await at('/alerts?tab=subscriptions')
    await row('/hook/notices')
    await press('Delete', '删除')
    await see('subscription-delete')
  },
]

const configure: readonly View[] = [
  page('/channels', 'channels'),
  async ({ at, press, fill, see, gateway }) => {
    await at('/channels')
    await press('New channel', '新建渠道')
    await press('Text (chat completions)', '文本（chat）')
    await see('channel-kind')
    await press('Next', '下一步')
    await fill('Name', '名称', 'a-channel-of-a-rather-long-name-for-tests')
    await fill('Base URL', '基础地址', `${gateway.upstream}/bad`)
    await fill('Keys', '密钥', 'upk-0123456789abcdef')
    await see('channel-key')
    await press('Run test', '开始测试')
    await see('channel-test')
    await press('Next', '下一步')
    await see('channel-models')
  },
  async ({ at, press, see, row }) => {
    await at('/channels')
    await row('cloud')
    await see('channel')
    await press('Edit', '编辑')
    await see('channel-edit')
  },
  async ({ at, press, see }) => {
    await at(`/channels?open=${longChannel}`)
    await see('channel-down')
    await press('Discover models', '发现模型')
    await see('channel-discover')
  },
  pressed('/channels?open=cloud', 'channel-discovered', ['Discover models', '发现模型']),
  pressed('/channels?open=cloud', 'channel-keys', ['Rotate keys', '轮换密钥']),
  pressed('/channels?open=cloud', 'channel-delete', ['Delete', '删除']),
  pressed('/channels', 'channel-import', ['Import YAML', '导入 YAML']),
  async ({ at, tabs, press, see }) => {
    await at('/models')
    await tabs('models')
    await press('Add model', '添加模型')
    await see('model-menu')
  },
  page('/models?add=hand', 'model-by-hand'),
  async ({ at, choose, press, see }) => {
    await at('/models?add=channel')
    await choose('Channel', '渠道', 'cloud')
    await see('model-from-channel')
    await press('Add writer-9', '添加 writer-9')
    await see('model-from-channel-form')
  },
  page('/models?add=virtual', 'model-virtual'),
  page('/models?add=alias', 'model-alias'),
  page(`/models?open=${longModel}`, 'model-unpriced'),
  page('/models?open=coder', 'model-coder'),
  pressed('/models?open=coder', 'model-edit', ['Edit', '编辑']),
  pressed(`/models?open=${longModel}`, 'model-delete', ['Delete model', '删除模型']),
  page('/prices', 'prices'),
  page('/prices?open=txta-plus', 'price'),
  pressed(
    '/prices?open=txta-plus',
    'price-editor',
    ['New version', '新版本'],
    ['Add tool', '添加工具'],
  ),
  async ({ at, press, see }) => {
    await at('/prices?open=txta-plus')
    await press('New version', '新版本')
    await press('Add tier', '添加档位')
    await press('Preview against last month', '按上月用量试算')
    await see('price-preview')
  },
  pressed('/prices', 'price-import', ['Import prices', '导入价格']),
  pressed('/prices', 'price-raise', ['Adjust by %', '按百分比调价']),
  page('/tokens', 'tokens'),
  pressed('/tokens', 'token-new', ['New token', '新建令牌']),
  async ({ at, press, row, see }) => {
    await at('/tokens')
    await row('nightly-report')
    await see('token')
    await press('Edit', '编辑')
    await see('token-edit')
  },
  ...(
    [
      ['token-rotate', 'Rotate secret', '轮换密钥'],
      ['token-revoke', 'Revoke', '吊销'],
    ] as const
  ).map(
    ([name, en, zh]): View =>
      async ({ at, press, row, see }) => {
        await at('/tokens')
        await row('nightly-report')
        await press(en, zh)
        await see(name)
      },
  ),
]

const money: readonly View[] = [
  page('/accounts', 'accounts'),
  pressed('/accounts', 'account-new', ['New account', '新建账户']),
  async ({ at, tabs }) => {
    await at(`/accounts?open=${longAccount}`)
    await tabs('account')
  },
  pressed('/accounts?open=acme', 'account-credit', ['Credit or take back', '充值或扣回']),
  pressed('/accounts?open=acme', 'account-settings', ['Edit settings', '编辑设置']),
  pressed(`/accounts?open=${longAccount}`, 'account-token', ['New token', '新建令牌']),
  page('/bills', 'bills'),
  page(`/bills?month=${lastMonth}`, 'bills-last'),
  pressed(`/bills?month=${lastMonth}`, 'bills-verify', ['Verify ledger', '核验账本']),
  pressed(`/bills?month=${lastMonth}`, 'bills-close-all', ['Close month for all', '全部结账']),
  page(`/bills?account=${longAccount}`, 'bills-account'),
  async ({ at, tabs, press, see }) => {
    await at(`/bills?open=${encodeURIComponent(`${lastMonth} acme-old`)}`)
    await tabs('bill')
    await press('Share link', '分享链接')
    await see('bill-share')
  },
  async ({ at, press, see }) => {
    await at(`/bills?open=${encodeURIComponent(`${lastMonth} acme-old`)}`)
    await press('Close month', '结账')
    await see('bill-close')
  },
  async ({ at, press, see }) => {
    await at(`/bills?open=${encodeURIComponent(`${lastMonth} acme-old`)}`)
    await press('Credit or take back', '充值或扣回')
    await see('bill-credit')
  },
  pressed('/bills?tab=reconcile', 'reconcile', ['Import options', '导入选项']),
  async ({ at, press, see, gateway }) => {
    await at(`/bills?tab=reconcile&statement=${gateway.statement}`)
    await see('statement')
    await press('Delete statement', '删除上游账单')
    await see('statement-delete')
  },
  page('/month', 'month'),
  page('/codes', 'codes'),
  pressed('/codes', 'codes-new', ['New codes', '生成兑换码']),
  page('/usage', 'usage'),
  page(`/usage?days=90&compare=1&group=account&subgroup=model`, 'usage-grouped'),
  page('/usage?account=late-closer', 'usage-none'),
  page('/margins', 'margins'),
  page('/margins?group=day', 'margins-by-day'),
  page('/costs', 'costs'),
  pressed('/costs', 'costs-new', ['New version', '新增版本']),
  pressed('/costs', 'costs-import', ['Import', '导入']),
]

const rest: readonly View[] = [
  async ({ at, tabs, press, see }) => {
    await at('/playground')
    await tabs('playground')
    await press('Use a sample', '使用示例')
    await press('Start batch', '开始批处理')
    await see('playground-batch')
    await at('/playground?try=Chat')
    await press('Presets', '预设')
    await see('playground-presets')
  },
  pressed(
    '/playground?try=Chat',
    'playground-sent',
    ['Send Ctrl', '发送 Ctrl'],
    ['Details', '详情'],
  ),
  pressed('/playground?try=Chat', 'playground-code', ['Code', '代码']),
  page('/playground?try=Messages&as=json', 'playground-json'),
  page('/settings', 'settings'),
  async ({ at, choose, press, see }) => {
    await at('/settings?yaml=difference')
    await choose('Account', '账户', 'acme')
    await press('Show secret', '显示密钥')
    await see('settings-secret')
  },
  page('/health', 'health'),
  page('/audit-log', 'audit'),
  async ({ at, row, see }) => {
    await at('/audit-log')
    await row(longModel)
    await see('audit-entry')
  },
  page('/people', 'people'),
  pressed('/people', 'person-new', ['Add person', '新增用户']),
  pressed('/people', 'person-invite', ['Invite person', '邀请用户']),
  pressed('/people', 'person-menu', ['Actions for mel', 'mel 的操作']),
  ...(
    [
      ['person-role', 'Change role', '更改角色'],
      ['person-password', 'Reset password', '重置密码'],
      ['person-remove', 'Remove', '移除'],
    ] as const
  ).map(([name, en, zh]) => pressed('/people', name, ['Actions for mel', 'mel 的操作'], [en, zh])),
]

/** What an administrator can open. */
export const views: readonly View[] = [...overview, ...operate, ...configure, ...money, ...rest]

/** What a customer can open. */
export const memberViews: readonly View[] = [
  page('/', 'customer'),
  page('/tasks', 'customer-tasks'),
  page('/requests', 'customer-requests'),
  async ({ at, see, gateway }) => {
    await at(`/requests?open=${gateway.refused}`)
    await see('customer-request')
    await at(`/tasks?open=${gateway.failed}`)
    await see('customer-task')
  },
  page('/tokens', 'customer-tokens'),
  page('/bills', 'customer-bills'),
  page('/usage', 'customer-usage'),
  page('/prices', 'customer-prices'),
  page('/prices?open=txta-plus', 'customer-price'),
  page('/playground', 'customer-playground'),
  page('/settings', 'customer-settings'),
]

/** The pages alone. */
export const pageViews: readonly View[] = [
  page('/', 'overview'),
  page('/tasks', 'tasks'),
  page('/requests', 'requests'),
  page('/alerts', 'alerts'),
  page('/channels', 'channels'),
  page('/models', 'models'),
  page('/prices', 'prices'),
  page('/tokens', 'tokens'),
  page('/accounts', 'accounts'),
  page('/bills', 'bills'),
  page('/month', 'month'),
  page('/codes', 'codes'),
  page('/usage', 'usage'),
  page('/margins', 'margins'),
  page('/costs', 'costs'),
  page('/playground', 'playground'),
  page('/settings', 'settings'),
  page('/health', 'health'),
  page('/audit-log', 'audit'),
  page('/people', 'people'),
]

export const memberPages: readonly View[] = [
  page('/', 'customer'),
  page('/tasks', 'customer-tasks'),
  page('/requests', 'customer-requests'),
  page('/tokens', 'customer-tokens'),
  page('/bills', 'customer-bills'),
  page('/usage', 'customer-usage'),
  page('/prices', 'customer-prices'),
  page('/playground', 'customer-playground'),
  page('/settings', 'customer-settings'),
]
