// How an organisation gets into the console, with the mouse: people are invited, change their role, set a
// new password and leave, in both languages.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  signIn,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Issuer, startIssuer } from '../support/issuer.ts'

const client = { id: 'gateway', secret: 'client-secret-of-the-gateway' }

const words = {
  en: {
    invite: 'Invite person',
    role: 'Role',
    account: 'Account',
    email: 'Email (optional)',
    link: 'Create link',
    done: 'Done',
    accept: 'Create account and sign in',
    set: 'Set password and sign in',
    member: 'Account member',
    finance: 'Finance',
    actions: 'Actions for',
    change: 'Change role',
    reset: 'Reset password',
    remove: 'Remove',
    revoke: 'Revoke',
  },
  zh: {
    invite: '邀请用户',
    role: '角色',
    account: '账户',
    email: '邮箱（可选）',
    link: '生成链接',
    done: '完成',
    accept: '创建并登录',
    set: '设置密码并登录',
    member: '账户成员',
    finance: '财务',
    actions: '的操作',
    change: '更改角色',
    reset: '重置密码',
    remove: '移除',
    revoke: '撤销',
  },
} as const

if (chromiumPath === undefined) {
  console.error('left out: people of an organisation in the console (install Chromium)')
} else {
  describe('the people of an organisation', () => {
    let issuer: Issuer
    let gateway: TestGateway
    let browser: Browser

    beforeAll(async () => {
      issuer = await startIssuer(client)
      gateway = await startGateway({
        env: {
          GATEWAY_OIDC_ISSUER: issuer.url,
          GATEWAY_OIDC_CLIENT_ID: client.id,
          GATEWAY_OIDC_CLIENT_SECRET: client.secret,
          GATEWAY_OIDC_GROUPS: 'admins=administrator,books=finance,acme-dev=member:acme',
        },
      })
      browser = await openBrowser()
      const { page, context } = await visit(browser, gateway.url)
      await setUp(page, gateway.output())
      await context.close()
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      issuer.stop()
    })

    /** The link that the dialog shows once. */
    const linkIn = async (page: Page): Promise<string> => {
      const code = page.getByRole('dialog').locator('pre')
      await code.waitFor()
      return (await code.textContent()) ?? ''
    }
    const choose = async (page: Page, label: string, option: string) => {
      await page.getByRole('dialog').getByRole('combobox', { name: label }).click()
      await page.getByRole('option', { name: option, exact: true }).click()
    }
    const people = async (): Promise<{ name: string; role: string; account: string }[]> =>
      (await gateway.admin('GET', '/people')).body.items

    for (const language of ['en', 'zh'] as const) {
      test(`are invited, changed and removed in ${language}`, async () => {
        const w = words[language]
        const name = `mia-${language}@example.com`
        const { page, context, complaints } = await visit(browser, gateway.url, { language })
        await signIn(page)
        await page.goto('/console/people')
        await page.getByRole('button', { name: w.invite }).click()
        await choose(page, w.role, w.member)
        await choose(page, w.account, 'acme')
        await page.getByRole('dialog').getByLabel(w.email).fill(name)
        expect(await seriousFindings(page)).toEqual([])
        await page.getByRole('button', { name: w.link }).click()
        const link = await linkIn(page)
        expect(link).toStartWith(`${gateway.url}/console/invitation#`)
        // A link that is shown once does not disappear by a key.
        await page.keyboard.press('Escape')
        expect(await linkIn(page)).toBe(link)
        await page.getByRole('button', { name: w.done }).click()
        await page.getByRole('button', { name: w.revoke }).waitFor()

        const invited = await visit(browser, gateway.url, { language })
        await invited.page.goto(link)
        await invited.page.getByText('acme').waitFor()
        expect(await seriousFindings(invited.page)).toEqual([])
        await invited.page.getByLabel(/^(Password|密码)/).fill(password)
        await invited.page.getByRole('button', { name: w.accept }).click()
        await invited.page.locator('nav').waitFor()
        expect(invited.page.url()).not.toContain('#')
        expect(await people()).toContainEqual(
          expect.objectContaining({ name, role: 'member', account: 'acme' }),
        )
        await invited.page.goto('/console/people')
        await invited.context.clearCookies()
        await invited.page.goto(link)
        await invited.page.getByRole('alert').waitFor()

        await page.reload()
        const menu = () =>
          page.getByRole('button', {
            name: new RegExp(`${w.actions} ${name}|${name} ${w.actions}`),
          })
        const act = async (action: string) => {
          await menu().click()
          await page.getByRole('menuitem', { name: action }).click()
        }
        await act(w.change)
        await choose(page, w.role, w.finance)
        await page.getByRole('dialog').getByRole('button', { name: w.change }).click()
        await page.getByRole('row', { name: new RegExp(`${name}.*${w.finance}`) }).waitFor()
        expect(await people()).toContainEqual(
          expect.objectContaining({ name, role: 'finance', account: null }),
        )

        await act(w.reset)
        await page.getByRole('button', { name: w.link }).click()
        const reset = await linkIn(page)
        await page.getByRole('button', { name: w.done }).click()
        await invited.page.goto('/console/')
        await invited.page.goto(reset)
        await invited.page.getByLabel(/^(Password|密码)/).fill('another long password')
        await invited.page.getByRole('button', { name: w.set }).click()
        await invited.page.locator('nav').waitFor()

        await act(w.remove)
        await page.getByRole('dialog').getByRole('button', { name: w.remove }).click()
        await menu().waitFor({ state: 'detached' })
        expect((await people()).map((each) => each.name)).not.toContain(name)
        expect(complaints).toEqual([])
        await context.close()
        await invited.context.close()
      })
    }

    const button = /SSO/

    test('come by single sign-on to the page they asked for', async () => {
      issuer.person = { sub: '1', preferred_username: 'sue', groups: ['books'] }
      const { page, context, complaints } = await visit(browser, gateway.url)
      await page.goto('/console/bills')
      await page.getByRole('button', { name: button }).click()
      await page.locator('nav').waitFor()
      await page.getByRole('heading', { level: 1, name: 'Bills' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/console/bills')
      await page.getByRole('button', { name: 'sue Finance', exact: true }).waitFor()
      const [cookie, ...more] = await context.cookies(gateway.url)
      expect(more).toEqual([])
      expect(cookie).toMatchObject({ name: '__Host-gateway-session', sameSite: 'Strict' })
      expect(complaints).toEqual([])
      await context.close()
      expect(gateway.output()).not.toContain(client.secret)
    })

    test.each([
      ['en', 'You are in no group that may use this gateway.'],
      ['zh', '你不在任何可使用此网关的用户组中'],
    ] as const)('without a group are told so in %s', async (language, text) => {
      issuer.person = { sub: '2', preferred_username: 'eve', groups: [] }
      const { page, context } = await visit(browser, gateway.url, { language })
      await page.goto('/console/')
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('alert').getByText(text).waitFor()
      expect(await context.cookies(gateway.url)).toEqual([])
      expect(await seriousFindings(page)).toEqual([])
      // The same page leads in once the group is there.
      issuer.person = { sub: '2', preferred_username: 'eve', groups: ['books'] }
      await page.getByRole('button', { name: button }).click()
      await page.locator('nav').waitFor()
      await context.close()
    })

    test('have no password fields where passwords are off, but for the break-glass one', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await page.route('**/admin/v1/session/options', (route) =>
        route.fulfill({ json: { oidc: true, passwords: false } }),
      )
      await page.goto('/console/')
      await page.getByRole('button', { name: button }).waitFor()
      expect(await page.getByLabel(/^Password/).count()).toBe(0)
      await page.getByRole('button', { name: 'Break-glass sign-in with a password' }).click()
      await page.getByLabel('Name').fill('ada')
      await page.getByLabel(/^Password/).fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.locator('nav').waitFor()
      await context.close()
    })

    test('an open invitation is revoked', async () => {
      const made = await gateway.admin('POST', '/invitations', { role: 'finance' })
      const { page, context } = await visit(browser, gateway.url)
      await signIn(page)
      await page.goto('/console/people')
      await page.getByRole('button', { name: 'Revoke', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Revoke invitation' })
      await dialog.getByText('This cannot be undone.').waitFor()
      await dialog.getByRole('button', { name: 'Revoke invitation' }).click()
      const revoke = page.getByRole('button', { name: 'Revoke', exact: true })
      await revoke.waitFor({ state: 'detached' })
      await page.goto('/console/')
      await page.goto(made.body.url)
      await page.getByText('This link cannot be used').waitFor()
      await context.close()
    })
  })
}
