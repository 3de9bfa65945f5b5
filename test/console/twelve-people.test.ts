// The other half of the twelve tasks: channels and keys, a customer of their own, the playground, a night on the
// phone; in both languages, with every click counted by the browser. Typing is not counted.
import { expect } from 'bun:test'
import { runTasks, type Task, type World } from '../support/console/twelve.ts'
import { until } from '../support/read.ts'

/** The upstream refuses its key until the channel is down. */
async function breakDown({ gateway, answers }: World): Promise<void> {
  answers.isUp = false
  await until('an alert', async () => {
    await (await gateway.chat('hello')).text()
    const { items } = (await gateway.admin('GET', '/alerts')).body
    return items.some(({ kind }: { kind: string }) => kind === 'channel_down') || undefined
  })
}

const isOut = async ({ gateway }: World): Promise<boolean> =>
  (await gateway.admin('GET', '/channels/azure-backup')).body.disabled

const tasks: readonly Task[] = [
  {
    name: '(h) a customer reads in words why a call failed',
    who: 'mel',
    clicks: 3,
    async work({ page, w, press, open, top }) {
      await open(w('Requests', '请求'))
      await press(w('Failed', '失败'))
      await page
        .getByRole('row', { name: /txta-turbo/ })
        .first()
        .click()
      await top().getByText(w('The upstream failed.', '上游出错。')).first().waitFor()
    },
  },
  {
    name: '(b) a customer: who it is, money, a budget, people by mail, and a token',
    who: 'ada',
    clicks: 9,
    async work({ page, w, press, open, top, mails, gateway }) {
      await open(w('Accounts', '账户'))
      await press(w('New account', '新建账户'))
      await top().getByLabel(w('Name', '名称')).first().fill('huaxia')
      await top().getByLabel(w('Display name', '显示名称')).fill('华夏影视')
      await top().getByLabel(w('E-mail for bills', '账单邮箱')).fill('caiwu@huaxia.example')
      await press(w('Next', '下一步'), top())
      await top().getByLabel(w('First credit', '首笔充值')).fill('80.00')
      await top().getByLabel(w('Budget amount', '预算金额')).fill('40.00')
      await press(w('Next', '下一步'), top())
      const field = w('E-mail addresses of people', '受邀用户的邮箱')
      await top().getByRole('combobox', { name: field }).fill('chen@huaxia.example')
      await page.keyboard.press('Enter')
      await press(w('Next', '下一步'), top())
      await top().getByLabel(w('Name of the first token', '首个令牌的名称')).fill('website')
      await press(w('Create', '新建'), top())
      const secret = top().getByLabel(w('Copy the secret now', '请立即复制密钥'))
      const text = (await secret.textContent())!
      expect(text).toMatch(/^sk-/)
      await press(w('Open the account', '打开账户'), top())
      await page.getByRole('heading', { level: 1, name: '华夏影视' }).waitFor()
      const mail = await mails.first(({ to }) => to[0] === 'chen@huaxia.example')
      expect(mail.text).toContain('/console/invitation#')
      const { body } = await gateway.admin('GET', '/accounts/huaxia')
      expect(body).toMatchObject({ balance: '80.00', email: 'caiwu@huaxia.example' })
      expect(body.budget.amount).toBe('40.00')
    },
  },
  {
    name: '(g) a key of a provider is tested, and serves beside the old one',
    who: 'ops',
    clicks: 4,
    async work({ page, w, press, open, top, gateway }) {
      await open(w('Channels', '渠道'))
      await page.getByRole('row', { name: /azure-backup/ }).click()
      await press(w('Rotate keys', '轮换密钥'), top())
      await top()
        .getByRole('textbox', { name: w('Keys', '密钥') })
        .fill('upk-fedcba9876543210')
      await press(w('Test and save', '测试并保存'), top())
      await until('two keys', async () => {
        const { keys } = (await gateway.admin('GET', '/channels/azure-backup')).body
        return keys === 2 || undefined
      })
    },
  },
  {
    name: '(g) a token gets another secret, and the old one goes on for a day',
    who: 'ops',
    clicks: 4,
    async before({ gateway }) {
      const { status } = await gateway.admin('POST', '/tokens', { account: 'fjord', name: 'ci' })
      expect(status).toBe(201)
    },
    async work({ page, w, press, open, top }) {
      await open(w('API tokens', 'API 令牌'))
      await page.getByRole('row', { name: /(^| )ci / }).click()
      await press(w('Rotate secret', '轮换密钥'), top())
      await press(w('Rotate secret', '轮换密钥'), top())
      const secret = top().getByLabel(w('Copy the secret now', '请立即复制密钥'))
      expect(await secret.textContent()).toMatch(/^sk-/)
    },
  },
  {
    name: '(d) a channel fails: which, since when and why; taken out, and brought back',
    who: 'ops',
    clicks: 5,
    before: breakDown,
    async work(desk) {
      const { page, w, press } = desk
      const strip = page.getByRole('region', { name: w('What is wrong', '当前问题') })
      await strip.getByText('azure-backup').first().waitFor()
      await strip.getByText('Incorrect API key provided').waitFor()
      await press(w('Take out', '停止接单'), strip)
      await until('it is out', async () => (await isOut(desk)) || undefined)
      desk.answers.isUp = true
      await press(w('Bring back', '恢复接单'), strip)
      await until('it is back', async () => !(await isOut(desk)) || undefined)
    },
  },
  {
    name: '(i) a phone at night: what is wrong, taken out, and acknowledged',
    who: 'ops',
    clicks: 5,
    isPhone: true,
    before: breakDown,
    async work(desk) {
      const { page, w, press, top, gateway } = desk
      const strip = page.getByRole('region', { name: w('What is wrong', '当前问题') })
      await strip.getByText('azure-backup').first().waitFor()
      expect((await strip.boundingBox())!.y).toBeLessThan(300)
      // A busy machine may have alerts of its own.
      await page.getByRole('link', { name: new RegExp(w('open alert', '条未处理告警')) }).click()
      const acknowledge = page.getByRole('button', { name: w('Acknowledge', '认领') })
      const alert = page.locator('div', { hasText: 'azure-backup', has: acknowledge }).last()
      await press(w('Acknowledge', '认领'), alert)
      await until('acknowledged', async () => {
        const { items } = (await gateway.admin('GET', '/alerts')).body
        const of = items.map(({ acknowledged_by }: { acknowledged_by: string }) => acknowledged_by)
        return of.includes('ops') || undefined
      })
      const link = page.getByRole('link', { name: w('Open channel', '查看渠道') })
      await link.first().click()
      await press(w('Take out', '停止接单'), top())
      await until('it is out', async () => (await isOut(desk)) || undefined)
    },
  },
  {
    name: '(l) a channel from a preset, with a test, up to its models',
    who: 'ops',
    clicks: 8,
    async before({ answers, gateway }) {
      answers.isUp = true
      const model = { kind: 'text', interfaces: ['chat'] }
      await gateway.admin('PUT', '/models/deepseek-chat', model)
    },
    async work({ w, page, press, open, choose, top, upstream }) {
      await open(w('Channels', '渠道'))
      await press(w('New channel', '新建渠道'))
      await choose(w('Known provider', '已知提供商'), 'DeepSeek', top())
      await press(w('Next', '下一步'), top())
      await top().getByLabel(w('Base URL', '基础地址')).fill(upstream.url)
      await top().getByLabel(w('Keys', '密钥')).fill('upk-0123456789abcdef')
      await press(w('Run test', '开始测试'), top())
      await top()
        .getByText(new RegExp(w('^OK, ', '^可用，')))
        .first()
        .waitFor()
      await press(w('Next', '下一步'), top())
      await page.getByRole('button', { name: w('Activate', '启用'), exact: true }).waitFor()
    },
  },
  {
    name: '(j) the playground: a question, its answer and what it cost',
    who: 'ops',
    clicks: 2,
    async work({ page, w, press, open }) {
      await open(w('Playground', '调试台'))
      await press(new RegExp(`^${w('Send', '发送')}`))
      await page
        .getByText(new RegExp(`^${w('Cost: ', '消费：')}`))
        .first()
        .waitFor()
    },
  },
  {
    name: '(h) a customer sees the balance, how long it lasts, the budget and what was spent',
    who: 'mel',
    clicks: 0,
    async work({ page, w }) {
      const main = page.locator('main')
      for (const title of [
        w('Balance', '余额'),
        w('Charges today', '今日消费'),
        w('Charges this month', '本月消费'),
        w('Budgets', '预算'),
        w('Add money', '充值'),
      ]) {
        await main.getByText(title, { exact: true }).first().waitFor()
      }
      await main
        .getByText(/50\.00 CNY/)
        .first()
        .waitFor()
    },
  },
  {
    name: '(h) a customer makes a key, and has code with it',
    who: 'mel',
    clicks: 3,
    async work({ page, w, press, open, top }) {
      await open(w('API tokens', 'API 令牌'))
      await press(w('New token', '新建令牌'))
      await top().getByLabel(w('Name', '名称')).first().fill('website')
      await press(w('Create', '新建'), top())
      const secret = top().getByLabel(w('Copy the secret now', '请立即复制密钥'))
      const text = (await secret.textContent())!
      expect(text).toMatch(/^sk-/)
      expect(await top().locator('pre').last().textContent()).toContain(text)
      expect(await page.getByText('YOUR_TOKEN').count()).toBe(0)
    },
  },
  {
    name: '(h) a customer opens a bill',
    who: 'mel',
    clicks: 2,
    async work({ page, w, open, top }) {
      await open(w('Bills', '账单'))
      await page.locator('main [role=row][data-clickable]').first().click()
      await top().getByText(w('By model', '按模型')).first().waitFor()
    },
  },
]

runTasks('the twelve tasks, channels and customers', tasks)
