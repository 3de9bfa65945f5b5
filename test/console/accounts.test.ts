// Customers in the console, with the mouse alone and in both languages: an account is opened and credited,
// gets a token with limits and a budget, a colleague gets another role, a token that leaked is rotated,
// everything is found by its name, and the customer looks around.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const words = {
  en: {
    accounts: 'Accounts',
    newAccount: 'New account',
    next: 'Next',
    name: 'Name',
    first: /^First credit/,
    create: 'Create',
    credit: 'Credit or take back',
    add: 'Add credit',
    amount: /^Amount/,
    note: 'Note',
    landsIn: 'on the bill of',
    booked: 'The balance is now 75.00 CNY',
    done: 'Done',
    settings: 'Edit settings',
    budget: 'Budget amount',
    low: /^Low-balance threshold/,
    save: 'Save',
    used: /of 500\.00 CNY used/,
    newToken: 'New token',
    models: 'Models',
    unknown: 'No model of the catalog fits: txta-p',
    rpm: 'Requests per minute',
    fallback: 'Fallback',
    never: 'Never',
    copyNow: 'Copy the secret now',
    saved: 'I have saved it',
    tokens: 'Tokens',
    rotate: 'Rotate secret',
    people: 'People',
    addPerson: 'Add person',
    password: /^Initial password/,
    operator: 'Operator',
    role: 'Role',
    finance: 'Finance',
    changeRole: 'Change role',
    remove: 'Remove',
    actions: 'Actions for',
    last: 'The last administrator',
    search: 'Search or paste an ID',
    person: 'Person',
    account: 'Account',
    token: 'Token',
    model: 'Model',
    balance: 'Balance',
    spend: 'Charges this month',
    prices: 'All prices',
    guide: 'Guide',
    requests: 'Requests',
    charge: 'How the charge was calculated',
    suspended: 'Suspended',
    active: 'Active',
    resume: 'Verify and resume',
    hidden: /channel|Attempts|Upstream (?:ID|request ID|model)/i,
  },
  zh: {
    accounts: '账户',
    newAccount: '新建账户',
    next: '下一步',
    name: '名称',
    first: /^首笔充值/,
    create: '新建',
    credit: '充值或扣回',
    add: '充值',
    amount: /^金额/,
    note: '备注',
    landsIn: '账单（UTC）',
    booked: '当前余额 75.00 CNY',
    done: '完成',
    settings: '编辑设置',
    budget: '预算金额',
    low: /^余额预警线/,
    save: '保存',
    used: /已用 500\.00 CNY 的/,
    newToken: '新建令牌',
    models: '可用模型',
    unknown: '模型目录中没有匹配项：txta-p',
    rpm: '每分钟请求数',
    fallback: '备选模型',
    never: '从不',
    copyNow: '请立即复制密钥',
    saved: '我已保存',
    tokens: '令牌',
    rotate: '轮换密钥',
    people: '用户',
    addPerson: '新增用户',
    password: /^初始密码/,
    operator: '运维',
    role: '角色',
    finance: '财务',
    changeRole: '更改角色',
    remove: '移除',
    actions: '的操作',
    last: '最后一名管理员',
    search: '搜索，或粘贴任意 ID',
    person: '用户',
    account: '账户',
    token: '令牌',
    model: '模型',
    balance: '余额',
    spend: '本月消费',
    prices: '全部价格',
    guide: '使用指南',
    requests: '请求',
    charge: /计算过程/,
    suspended: '已暂停',
    active: '正常',
    resume: '核对并恢复',
    hidden: /渠道|尝试|上游(?: ID|请求 ID|模型)/,
  },
} as const

if (chromiumPath === undefined) {
  console.error('left out: customers in the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  let gateway: TestGateway
  let browser: Browser

  beforeAll(async () => {
    gateway = await startGateway()
    browser = await openBrowser()
    const { page, context } = await visit(browser, gateway.url)
    await setUp(page, gateway.output())
    await context.close()
  })
  afterAll(async () => {
    await browser.close()
    await gateway.stop()
  })

  describe.each(['en', 'zh'] as const)('customers in the console, in %s', (language) => {
    const w = words[language]
    const [customer, colleague, member] = [
      `globex-${language}`,
      `fay-${language}`,
      `mel-${language}`,
    ]
    let it: Visit
    let secret = ''

    beforeAll(async () => {
      it = await visit(browser, gateway.url, { language, width: 1440 })
      await signIn(it.page)
    })
    afterAll(() => it.context.close())

    const open = (page: Page, title: string) =>
      page.locator('nav').getByRole('link', { name: title, exact: true }).click()
    const choose = async (page: Page, label: string, option: string) => {
      await page.getByRole('combobox', { name: label, exact: true }).last().click()
      await page.getByRole('option', { name: option, exact: true }).click()
    }
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    const asked = async (path: string): Promise<any> => (await gateway.admin('GET', path)).body
    /** A language changes no structure. */
    const findings = async () => (language === 'en' ? seriousFindings(it.page) : [])
    /** The page of the account. */
    const account = () => it.page.locator('main')

    test('a new customer gets credit, a budget and a threshold', async () => {
      const { page } = it
      await open(page, w.accounts)
      await page.getByRole('button', { name: w.newAccount }).click()
      const form = page.getByRole('dialog', { name: w.newAccount })
      await form.getByLabel(w.name, { exact: false }).first().fill(customer)
      await form.getByRole('button', { name: w.next }).click()
      await form.getByLabel(w.first).fill('50.00')
      expect(await findings()).toEqual([])
      await form.getByRole('button', { name: w.create }).click()
      await account().getByText('50.00 CNY').first().waitFor()
      await account().getByRole('button', { name: w.credit }).click()
      const credit = page.getByRole('dialog', { name: `${w.credit} · ${customer}` })
      await credit.getByLabel(w.amount).fill('25.00')
      await credit.getByLabel(w.note, { exact: false }).fill('invoice 17')
      const month = new Date().toISOString().slice(0, 7)
      expect(await credit.textContent()).toContain(month)
      expect(await credit.textContent()).toContain(w.landsIn)
      await credit.getByRole('button', { name: w.add }).click()
      await credit.getByText(w.booked).waitFor()
      await credit.getByRole('button', { name: w.done }).click()
      await account().getByText('75.00 CNY').first().waitFor()
      await account().getByRole('button', { name: w.settings }).click()
      const settings = page.getByRole('dialog', { name: `${w.settings} · ${customer}` })
      await settings.getByLabel(w.budget).fill('500.00')
      await settings.getByLabel(w.low).fill('10.00')
      await settings.getByRole('button', { name: w.save }).click()
      await account().getByRole('progressbar', { name: w.used }).waitFor({ state: 'attached' })
      await shoot(page, `account-${language}`)
      expect(await findings()).toEqual([])
      const shown = await asked(`/accounts/${customer}`)
      expect(shown).toMatchObject({ balance: '75.00', balance_low: '10.00' })
      expect(shown.budget).toMatchObject({ amount: '500.00', per: 'month' })
      const { items } = await asked(`/accounts/${customer}/ledger`)
      expect(items.map((entry: { amount: string }) => entry.amount)).toEqual(['25.00', '50.00'])
    })

    test('its token has chosen models, limits and a budget, and its secret stays until it is saved', async () => {
      const { page } = it
      await account().getByRole('button', { name: w.newToken }).click()
      const form = page.getByRole('dialog', { name: w.newToken })
      await form.getByLabel(w.name, { exact: false }).first().fill('ci')
      await form.getByRole('combobox', { name: w.models }).fill('txta-p')
      await page.getByRole('option', { name: 'txta-plus', exact: true }).click()
      await form.getByRole('combobox', { name: w.models }).fill('txta-p')
      await form.getByLabel(w.rpm).fill('60')
      await form.getByText(w.unknown).waitFor()
      await choose(page, w.fallback, w.never)
      await form.getByLabel(w.budget).fill('5.00')
      expect(await findings()).toEqual([])
      await form.getByRole('button', { name: w.create }).click()
      const shown = form.getByLabel(w.copyNow)
      secret = (await shown.textContent()) ?? ''
      expect(secret).toMatch(/^sk-/)
      await page.keyboard.press('Escape')
      await page.mouse.click(5, 400)
      expect(await shown.textContent()).toBe(secret)
      await form.getByRole('button', { name: w.saved }).click()
      await account().getByRole('tab', { name: w.tokens }).click()
      await account().getByRole('link', { name: 'ci' }).waitFor()
      const { items } = await asked(`/tokens?account=${customer}`)
      expect(items[0]).toMatchObject({
        name: 'ci',
        models: ['txta-plus', 'txta-p'],
        limits: { rpm: 60 },
        fallback: 'never',
      })
      expect(items[0].budget).toMatchObject({ amount: '5.00' })
    })

    test('a token that leaked is rotated, and neither Esc nor a click discards the new secret', async () => {
      const { page } = it
      await account().getByRole('link', { name: 'ci' }).click()
      const sheet = page.getByRole('dialog', { name: 'ci', exact: true })
      await sheet.getByRole('button', { name: w.rotate }).click()
      const dialog = page.getByRole('dialog', { name: w.rotate })
      await dialog.getByRole('button', { name: w.rotate }).click()
      const fresh = await dialog.getByLabel(w.copyNow).textContent()
      await page.keyboard.press('Escape')
      await page.mouse.click(5, 400)
      expect(await dialog.getByLabel(w.copyNow).textContent()).toBe(fresh)
      await dialog.getByRole('button', { name: w.saved }).click()
      await sheet.getByRole('button', { name: w.rotate }).waitFor()
      secret = fresh ?? ''
      expect(secret).toMatch(/^sk-/)
    })

    test('a colleague becomes finance, and the last administrator stays one', async () => {
      const { page } = it
      await page.goto('/console/')
      await open(page, w.people)
      await page.getByRole('button', { name: w.addPerson }).click()
      const form = page.getByRole('dialog', { name: w.addPerson })
      await form.getByLabel(/^(Name|用户名)/).fill(colleague)
      await form.getByLabel(w.password).fill(password)
      await form.getByRole('button', { name: w.create }).click()
      await page.getByRole('row', { name: new RegExp(`${colleague}.*${w.operator}`) }).waitFor()
      const menu = (name: string) =>
        page.getByRole('button', { name: new RegExp(`${w.actions} ${name}|${name} ${w.actions}`) })
      await menu(colleague).click()
      await page.getByRole('menuitem', { name: w.changeRole }).click()
      await choose(page, w.role, w.finance)
      await page.getByRole('dialog').getByRole('button', { name: w.changeRole }).click()
      await page.getByRole('row', { name: new RegExp(`${colleague}.*${w.finance}`) }).waitFor()
      await menu('ada').click()
      await page.getByText(w.last).waitFor()
      for (const action of [w.changeRole, w.remove]) {
        expect(await page.getByRole('menuitem', { name: action }).isDisabled()).toBe(true)
      }
      await page.mouse.click(700, 800)
    })

    test('the search finds the account, its tokens and its people', async () => {
      const { page } = it
      const more = { role: 'member', account: customer, password }
      await gateway.admin('POST', '/people', { name: member, ...more })
      await page.goto('/console/')
      const button = page.getByRole('button', { name: w.search })
      expect(await button.textContent()).toContain('Ctrl K')
      await button.click()
      const dialog = page.getByRole('dialog', { name: w.search })
      await dialog.getByRole('textbox').fill(customer.toUpperCase())
      for (const hit of [
        `${customer} ${w.account} · ${customer}`,
        `ci ${w.token} · ${customer}`,
        `${member} ${w.person} · ${customer}`,
      ]) {
        await dialog.getByRole('option', { name: hit }).waitFor()
      }
      await shoot(page, `search-${language}`)
      await dialog.getByRole('textbox').fill('txta-plus')
      await dialog.getByRole('option', { name: `txta-plus ${w.model}` }).waitFor()
      await dialog.getByRole('textbox').fill(customer)
      await dialog.getByRole('option', { name: `${customer} ${w.account} · ${customer}` }).click()
      await account().waitFor()
    })

    /** Behind the gateway's back. */
    const tamper = (name: string, nanos: number) => {
      const db = new Database(join(gateway.dataDir, 'gateway.db'), { readwrite: true })
      db.run('PRAGMA busy_timeout = 5000')
      db.run('UPDATE accounts SET balance_nanos = balance_nanos + ? WHERE name = ?', [nanos, name])
      db.close()
    }

    test('a suspended account says so, and is resumed when its ledger adds up again', async () => {
      const { page } = it
      const name = `initech-${language}`
      await gateway.admin('POST', '/accounts', { name, balance: '1.00' })
      tamper(name, 1)
      await gateway.admin('POST', '/audit')
      await page.goto('/console/')
      await open(page, w.accounts)
      await page.getByRole('row', { name: new RegExp(`${name}.*${w.suspended}`) }).click()
      const sheet = page.locator('main')
      const resume = sheet.getByRole('button', { name: w.resume })
      await resume.click()
      // Not while it does not.
      await sheet.getByRole('alert').nth(1).waitFor()
      tamper(name, -1)
      await resume.click()
      await resume.waitFor({ state: 'detached' })
      await open(page, w.accounts)
      await page.getByRole('row', { name: new RegExp(`${name}.*${w.active}`) }).waitFor()
      expect((await asked(`/accounts/${name}`)).suspended_since).toBeUndefined()
    })

    test('the customer sees its money, prices and documentation, and nothing of the operator', async () => {
      const messages = [{ role: 'user', content: 'hello' }]
      const call = await gateway.post(
        '/v1/chat/completions',
        { model: 'txta-plus', messages },
        { authorization: `Bearer ${secret}` },
      )
      expect(call.status).toBe(200)
      await call.text()
      const { page, context, complaints } = await visit(browser, gateway.url, { language })
      await signIn(page, member)
      const main = page.locator('main')
      for (const title of [w.balance, w.spend]) await main.getByText(title).first().waitFor()
      await main.getByRole('progressbar', { name: w.used }).waitFor({ state: 'attached' })
      await main.getByRole('link', { name: w.prices }).waitFor()
      const guide = main.getByRole('link', { name: w.guide })
      expect(await guide.getAttribute('href')).toBe(`${gateway.url}/docs/guide`)
      await main.getByRole('link', { name: 'ci', exact: true }).first().waitFor()
      await shoot(page, `customer-${language}`)
      expect(await seriousFindings(page)).toEqual([])
      await open(page, w.requests)
      await page.getByRole('row', { name: /txta-plus/ }).click()
      const sheet = page.getByRole('dialog')
      await sheet.getByText(w.charge).waitFor()
      const { items } = await asked(`/requests?account=${customer}`)
      expect(items[0].upstream_request_id).not.toBe('')
      for (const place of [main, sheet]) {
        const text = (await place.textContent()) ?? ''
        expect(text).not.toMatch(w.hidden)
        expect(text).not.toContain(items[0].channel)
        expect(text).not.toContain(items[0].upstream_request_id)
      }
      const foreign = await page.evaluate<number>(
        "fetch('/admin/v1/requests?account=acme').then(({ status }) => status)",
      )
      expect(foreign).toBe(404)
      // The refusal that was just asked for is in the browser's console.
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
      await context.close()
    })
  })
}
