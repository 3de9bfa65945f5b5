// People in the console: how they come in, what keeps them out, what each role is shown, and how a
// session ends.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  goTo,
  openBrowser,
  password,
  setUp,
  signIn,
  visit,
} from '../support/console/browser.ts'
import { headed, watchTraffic } from '../support/console/traffic.ts'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'

/** Besides the administrator, who sees all. */
const pagesFor = {
  operator: [
    '/',
    '/tasks',
    '/requests',
    '/alerts',
    '/channels',
    '/models',
    '/prices',
    '/tokens',
    '/accounts',
    '/usage',
    '/margins',
    '/costs',
    '/playground',
    '/settings',
    '/health',
  ],
  finance: [
    '/',
    '/tasks',
    '/requests',
    '/alerts',
    '/models',
    '/prices',
    '/accounts',
    '/bills',
    '/month',
    '/codes',
    '/usage',
    '/margins',
    '/costs',
    '/settings',
    '/health',
  ],
  member: [
    '/',
    '/tasks',
    '/requests',
    '/prices',
    '/tokens',
    '/bills',
    '/usage',
    '/playground',
    '/settings',
  ],
} as const

if (chromiumPath === undefined) {
  console.error('left out: people in the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('people in the console', () => {
    let gateway: TestGateway
    let browser: Browser
    let everyPage: string[]

    beforeAll(async () => {
      gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
      browser = await openBrowser()
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const add = async (name: string, role: string) => {
      const account = role === 'member' && { account: 'acme' }
      const made = await gateway.admin('POST', '/people', { name, role, password, ...account })
      expect(made.status).toBe(201)
    }
    const pathsIn = async (page: Page): Promise<string[]> => {
      const links = page.locator('nav a')
      await links.first().waitFor()
      const found = await links.evaluateAll((all) => all.map((each) => each.getAttribute('href')))
      return found.map((path) => (path ?? '').replace('/console', ''))
    }
    const tryToSignIn = async (page: Page, name: string, secret: string) => {
      await page.getByLabel('Name').fill(name)
      await page.getByLabel(/^Password/).fill(secret)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }

    test('the first one comes by a link that works once', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await setUp(page, gateway.output())
      everyPage = await pathsIn(page)
      expect(everyPage.length).toBeGreaterThan(10)
      // It is of no use any more, and not in the history either.
      const [link = ''] = /\/console\/set-up#\w+/.exec(gateway.output()) ?? []
      await context.clearCookies()
      await page.goto('/console/')
      await page.goto(link)
      await page.getByText('This link has been used').waitFor()
      expect(await page.getByLabel('Name').count()).toBe(0)
      const [, code = ''] = link.split('#')
      const refused = await page.evaluate<string>(`fetch('/admin/v1/setup', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: '${code}', name: 'eve', password: '${password}' }),
      }).then((answer) => answer.text())`)
      expect(refused).toContain('used or has expired')
      expect(await context.cookies()).toEqual([])
      expect((await gateway.admin('GET', '/people')).body.items).toHaveLength(1)
      await context.close()
    })

    test('the session is a cookie of this host that no script and no other site can use', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await signIn(page)
      const [cookie, ...more] = await context.cookies()
      expect(more).toEqual([])
      expect(cookie).toMatchObject({
        name: '__Host-gateway-session',
        domain: 'localhost',
        path: '/',
        httpOnly: true,
        secure: true,
        sameSite: 'Strict',
      })
      expect(cookie!.expires * 1000 - Date.now()).toBeLessThanOrEqual(12 * 3_600_000)
      expect(await page.evaluate<string>('document.cookie')).toBe('')
      const kept = await page.evaluate<string>(
        'JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])',
      )
      expect(kept).not.toContain(cookie!.value)
      expect(kept).not.toContain(password)
      await context.close()
    })

    test('whoever guesses is told nothing, and has to wait', async () => {
      await add('guessed', 'operator')
      const { page, context } = await visit(browser, gateway.url)
      await page.goto('/console/')
      const told = new Set<string>()
      const quiet = watchTraffic(page)
      for (const name of ['nobody-at-all', 'guessed', 'guessed', 'guessed', 'guessed', 'guessed']) {
        await tryToSignIn(page, name, 'something else')
        const alert = page.getByRole('alert')
        await quiet()
        await alert.waitFor()
        told.add(((await alert.textContent()) ?? '').replace(/\(req_\w+\)/, ''))
      }
      expect(told.size).toBe(1)
      expect([...told][0]).toContain('the name or the password is wrong')
      await tryToSignIn(page, 'guessed', password)
      await page.getByText('too many sign-ins failed').waitFor()
      expect(await context.cookies()).toEqual([])
      await context.close()
      // Nobody else has to wait for that.
      const other = await visit(browser, gateway.url)
      await signIn(other.page)
      await other.context.close()
    })

    test('signing out ends the page at once, on every page', async () => {
      const { page, context } = await visit(browser, gateway.url)
      for (const path of ['/console/', '/console/tasks']) {
        await signIn(page)
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.getByRole('button', { name: /^ada\b/ }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.getByRole('button', { name: 'Sign in' }).waitFor()
        expect(await context.cookies()).toEqual([])
      }
      await context.close()
    })

    test('signing out elsewhere ends the page, and leaves nothing of it to who comes next', async () => {
      await add('next', 'member')
      await gateway.admin('POST', '/accounts', { name: 'other', balance: '5.00' })
      const made = await gateway.admin('POST', '/tokens', { account: 'other', name: 'of-other' })
      await (
        await gateway.post(
          '/v1/chat/completions',
          { model: 'txta-plus', messages: [{ role: 'user', content: 'hello' }] },
          { authorization: `Bearer ${made.body.token}` },
        )
      ).text()
      const { page, context } = await visit(browser, gateway.url)
      await signIn(page)
      await page.goto('/console/requests')
      await page.getByText('other / of-other').waitFor()
      await page.goto('/console/tokens')
      await page.getByRole('row', { name: /of-other/ }).waitFor()
      await page.getByRole('link', { name: 'Tasks' }).click()
      const elsewhere = await context.newPage()
      await elsewhere.goto('/console/')
      await elsewhere.getByRole('button', { name: /^ada\b/ }).click()
      await elsewhere.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      // In the same tab, and slowly: what the last one saw must not be there in the meantime.
      await page.route('**/admin/v1/tokens*', async (route) => {
        await Bun.sleep(500)
        await route.continue()
      })
      await tryToSignIn(page, 'next', password)
      await page.getByRole('link', { name: 'Tokens' }).click()
      await page.getByRole('heading', { name: 'Tokens' }).waitFor()
      expect(await page.getByText('of-other').count()).toBe(0)
      await page.getByRole('row', { name: /acme/ }).first().waitFor()
      expect(await page.getByText('of-other').count()).toBe(0)
      await context.close()
    })

    test('a page that is asked for without a session is asked for again after signing in', async () => {
      const { page, context } = await visit(browser, gateway.url)
      await page.goto('/console/tasks?state=failed')
      await tryToSignIn(page, 'ada', password)
      await page.getByRole('heading', { name: 'Tasks' }).waitFor()
      expect(page.url()).toContain('/console/tasks?state=failed')
      await context.close()
    })

    test('everybody is led to their own pages alone, which ask only for what they may have', async () => {
      await fill(gateway)
      const roles = ['operator', 'finance', 'member'] as const
      await Promise.all(roles.map(walkAs))
    })

    async function walkAs(role: keyof typeof pagesFor): Promise<void> {
      const name = `a-${role}`
      await add(name, role)
      const { page, context } = await visit(browser, gateway.url)
      const refused: string[] = []
      page.on('response', (answer) => {
        const asked = `${answer.request().method()} ${answer.url().replace(gateway.url, '')}`
        if (answer.status() === 403) refused.push(asked)
      })
      const quiet = watchTraffic(page)
      await signIn(page, name)
      const mine: readonly string[] = pagesFor[role]
      expect([role, (await pathsIn(page)).toSorted()]).toEqual([role, [...mine].toSorted()])
      for (const path of mine) {
        await goTo(page, `/console${path}`)
        await headed(page)
        await quiet()
        const row = page.locator('[role=row][data-clickable]').first()
        if (!(await row.isVisible())) continue
        await row.click()
        // An account is a page of its own.
        const account = page.getByRole('link', { name: 'All accounts' })
        await page.getByRole('dialog').or(account).first().waitFor()
        await quiet()
      }
      expect([role, await reallyRefused(gateway, refused)]).toEqual([role, []])
      const others = everyPage.filter((path) => !mine.includes(path))
      expect(others.length).toBeGreaterThan(1)
      await page.goto(`/console${others[0]}`)
      await page.getByText('You do not have permission to view this page.').waitFor()
      // The others as a link of the page would.
      for (const path of others.slice(1)) {
        await goTo(page, `/console${path}`)
        await quiet()
        expect(await page.locator('main').textContent()).toContain(
          'You do not have permission to view this page.',
        )
      }
      await context.close()
    }
  })
}

/** A call that this gateway does not know yet is refused to most, and not there for the administrator. */
async function reallyRefused(gateway: TestGateway, asked: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const call of new Set(asked)) {
    const [method = '', path = ''] = call.split(' ')
    const headers = { authorization: `Bearer ${adminToken}` }
    const { status } = await fetch(gateway.url + path, { method, headers })
    if (status !== 404) found.push(call)
  }
  return found
}

/** A row for every list. */
async function fill(gateway: TestGateway): Promise<void> {
  await (await gateway.chat('hello')).text()
  const body = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: 5 }
  await (await gateway.post('/v1/videos', body)).text()
}
