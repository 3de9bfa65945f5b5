// Of the twelve tasks of people who use the console: calls, refunds, prices and the month, in both languages, with every click
// counted by the browser: each has a number of clicks that it may take. Typing is not counted.
import { expect } from 'bun:test'
import { type Desk, find, lastMonth, runTasks, type Task } from '../support/console/twelve.ts'
import { until } from '../support/read.ts'

const explained = ({ w }: Pick<Desk, 'w'>) => w('How the charge was calculated', '消费计算过程')

/** One after the other: later ones meet what earlier ones did. */
const tasks: readonly Task[] = [
  {
    name: '(a) a request by its ID, and why it cost that much, by the keyboard',
    who: 'ops',
    clicks: 0,
    async work(desk) {
      const { page, request, top } = desk
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('textbox').fill(request)
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('Enter')
      await top().getByText(explained(desk)).waitFor()
    },
  },
  {
    name: '(a) a task by its ID, and why it cost that much, by the mouse',
    who: 'ops',
    clicks: 2,
    async work(desk) {
      await find(desk, desk.task)
      await desk.top().getByText(explained(desk)).waitFor()
    },
  },
  {
    name: '(a) a customer by the e-mail address',
    who: 'ops',
    clicks: 2,
    async work(desk) {
      const { page, w, press } = desk
      await press(new RegExp(`^${w('Search', '搜索')}`), page.locator('nav'))
      await page.getByRole('dialog').getByRole('textbox').fill('billing@fjord.example')
      await page.getByRole('option', { name: /fjord/ }).click()
      await page.getByRole('heading', { level: 1, name: 'Fjord Films AS' }).waitFor()
    },
  },
  ...(['requests', 'tasks'] as const).map(
    (list): Task => ({
      name: `(a) ${list} by their time`,
      who: 'ops',
      clicks: 3,
      async work({ page, w, press, open }) {
        await open(list === 'tasks' ? w('Tasks', '任务') : w('Requests', '请求'))
        await press(`+ ${w('Filter', '筛选')}`)
        await page.getByRole('menuitem', { name: w('From', '从'), exact: true }).click()
        await page.getByLabel(w('From', '从'), { exact: true }).fill('2000-01-02T03:04:05')
        await page.keyboard.press('Enter')
        await page.locator('main [role=row][data-clickable]').first().waitFor()
        expect(page.url()).toContain('from=2000-01-0')
      },
    }),
  ),
  {
    name: '(a) a refund at the task',
    who: 'fin',
    clicks: 4,
    async work(desk) {
      const { w, press, top, gateway, task } = desk
      await find(desk, task)
      await press(w('Refund', '退款'), top())
      await top().getByLabel(w('Reason', '原因')).fill('the sound is missing')
      await press(w('Refund', '退款'), top())
      await top().getByRole('status').waitFor()
      const { charge, refunded } = (await gateway.admin('GET', `/tasks/${task}`)).body
      expect(refunded).toBe(charge)
    },
  },
  {
    name: '(c) customers are told of a price: who subscribes gets a mail',
    who: 'ada',
    clicks: 7,
    async work({ page, w, press, open, top, gateway }) {
      await open(w('Alerts', '告警'))
      await page.getByRole('tab', { name: w('Subscriptions', '通知订阅') }).click()
      await press(w('New subscription', '新建订阅'))
      await top().getByText(w('E-mail', '邮件'), { exact: true }).first().click()
      await top().getByRole('textbox').first().fill('billing@fjord.example')
      await top().getByLabel(w('Price changed', '价格变更')).click()
      await press(w('Create', '新建'), top())
      await until('the subscription', async () => {
        const { items } = (await gateway.admin('GET', '/webhooks')).body
        return items.length === 1 || undefined
      })
    },
  },
  {
    name: '(c) a price for next Monday, tried on last month',
    who: 'fin',
    clicks: 5,
    async work({ page, w, press, open, mails, gateway }) {
      await open(w('Prices', '价格'))
      await page.getByRole('row', { name: /^vfa-2\.7-t2v/ }).click()
      await press(w('New version', '新版本'))
      const form = page.getByRole('form', { name: w('New version', '新版本') })
      await form.getByRole('textbox', { name: /720p/ }).fill('0.7')
      await form
        .getByLabel(new RegExp(`^${w('Effective from', '生效时间')}`))
        .fill('2031-03-03T00:00')
      await press(w('Preview against last month', '按上月用量试算'), form)
      const preview = page.getByRole('table', {
        name: w(`${lastMonth} at the new prices`, `${lastMonth} 按新价的消费`),
      })
      await preview.getByRole('row', { name: /^lee/ }).waitFor()
      await press(w('Schedule', '定时生效'), form)
      await form.waitFor({ state: 'hidden' })
      const mail = await mails.first(({ text }) => text.includes('vfa-2.7-t2v'))
      expect(mail.to).toEqual(['billing@fjord.example'])
      const { items } = (await gateway.admin('GET', '/prices?model=vfa-2.7-t2v')).body
      expect(items.some(({ state }: { state: string }) => state === 'scheduled')).toBe(true)
    },
  },
  {
    name: '(h) a customer reads which prices change when',
    who: 'mel',
    clicks: 1,
    async work({ page, w }) {
      const days = new RegExp(w('3 Mar 2031|2 Mar 2031', '2031年3月[23]日'))
      await page.getByText(days).first().waitFor()
    },
  },
  {
    name: '(c) a scheduled price is withdrawn',
    who: 'fin',
    clicks: 4,
    async work({ page, w, press, open, top, gateway }) {
      await open(w('Prices', '价格'))
      await page.getByRole('row', { name: /^vfa-2\.7-t2v/ }).click()
      await press(w('Withdraw', '撤销'))
      await press(w('Withdraw price', '撤销价格'), top())
      await until('the price to be gone', async () => {
        const { items } = (await gateway.admin('GET', '/prices?model=vfa-2.7-t2v')).body
        return items.every(({ state }: { state: string }) => state !== 'scheduled') || undefined
      })
    },
  },
  {
    name: '(e) a month is closed for all, taken along as files, and its bills are sent',
    who: 'fin',
    clicks: 6,
    async work({ page, w, press, open, top, mails, gateway }) {
      await open(w('Month close', '月结'))
      const steps = page.getByRole('region', { name: w('Checklist', '核对清单') })
      await press(w('Close month for all', '全部结账'), steps)
      await press(w('Close month for all', '全部结账'), top())
      await top().getByText(w('Closed: 2.', '已结账 2 个')).waitFor()
      const saving = page.waitForEvent('download')
      await top()
        .getByRole('link', { name: w('All bills (ZIP with CSV)', '全部账单（ZIP，含 CSV）') })
        .click()
      expect((await saving).suggestedFilename()).toBe(`bills-${lastMonth}.zip`)
      await press(w('Send bills', '发送账单'), top())
      await press(w('Send bills', '发送账单'), top())
      await top().getByText(w('Sent: 2 of 2.', '已发送 2/2 份')).waitFor()
      const books = mails.mails.filter(({ to }) => to[0]!.includes('books'))
      expect(books).toHaveLength(2)
      expect((await gateway.admin('GET', `/bills/totals?month=${lastMonth}`)).body.open).toBe(0)
    },
  },
  {
    name: '(e) a statement of an upstream is compared with the ledger',
    who: 'fin',
    clicks: 5,
    async work({ page, w, press, open, choose, top }) {
      await open(w('Bills', '账单'))
      await page.getByRole('tab', { name: w('Reconciliation', '对账') }).click()
      const today = new Date().toISOString().slice(0, 10)
      const text = `Request ID,Time,Model,Tokens,Cost\nup-1,${today},txta-plus,800,12.50\n`
      const file = { name: 'november.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
      await page.locator('input[type=file]').setInputFiles(file)
      await choose(w('Channel', '渠道'), 'azure-backup')
      await press(w('Compare', '比对'))
      await top().getByText('up-1').first().waitFor()
    },
  },
  {
    name: '(e) what is earned with each customer and each model',
    who: 'fin',
    clicks: 4,
    async work({ page, w, open, choose }) {
      await open(w('Margins', '毛利'))
      const row = (name: RegExp) =>
        page.locator('main').getByRole('row', { name }).first().waitFor()
      await row(/fjord/)
      await choose(w('Group by', '分组'), w('Model', '模型'))
      await row(/^txta-plus.*30%/)
    },
  },
  {
    name: '(f) who spends most, on what, and whether that is odd',
    who: 'fin',
    clicks: 3,
    async work({ page, w }) {
      const top = page.getByRole('table', { name: w('Top accounts', '账户消费排行') })
      await top.getByRole('row', { name: /^Fjord Films AS/ }).waitFor()
      await top.getByRole('link', { name: 'Fjord Films AS' }).click()
      await page.getByText(w('lasts about', '约可用')).waitFor()
      await page
        .getByRole('link', { name: w('Margins', '毛利分析'), exact: true })
        .last()
        .click()
      await page.locator('main').getByRole('row', { name: /fjord/ }).waitFor()
    },
  },
  {
    name: '(k) who changed the price of a model, and what was it before',
    who: 'ada',
    clicks: 5,
    async work({ page, w, press, open, top }) {
      await open(w('Audit log', '审计日志'))
      await press(`+ ${w('Filter', '筛选')}`)
      await page.getByRole('menuitem', { name: w('Resource', '对象'), exact: true }).click()
      await page.getByRole('combobox', { name: w('Resource', '对象') }).fill('vfa-2.7-t2v')
      await page.keyboard.press('Enter')
      await page
        .getByRole('row', { name: /fin.*vfa-2\.7-t2v/ })
        .first()
        .click()
      await top().getByText('0.70').first().waitFor()
    },
  },
]

runTasks('the twelve tasks, money and prices', tasks)
