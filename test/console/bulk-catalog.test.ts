// Several accounts, models and prices at once, and the way back, in a real browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  type Visit,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { untilTrue } from '../support/read.ts'

const next = '2031-03-03T00:00:00Z'

if (chromiumPath === undefined) {
  console.error('left out: several accounts at once (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('several accounts, models and prices at once', () => {
    let gateway: TestGateway
    let browser: Browser
    let it: Visit

    beforeAll(async () => {
      gateway = await startGateway()
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      await setUp(it.page, gateway.output())
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const select = async (page: Page, names: readonly string[], word = 'Select') => {
      for (const name of names) {
        await page.getByRole('checkbox', { name: `${word} ${name}`, exact: true }).check()
      }
    }
    const confirm = async (page: Page, name: string) => {
      await page.getByRole('button', { name, exact: true }).click()
      const dialog = page.getByRole('dialog', { name })
      await dialog.getByRole('button', { name, exact: true }).click()
      await dialog.waitFor({ state: 'hidden' })
    }
    const undo = (page: Page, word = 'Undo') =>
      page.getByRole('button', { name: new RegExp(`^${word}`) }).click()

    test('accounts: their tokens are disabled, and those that were enabled before again', async () => {
      const { page } = it
      const states = async () => {
        const { items } = (await gateway.admin('GET', '/tokens?limit=500')).body
        return Object.fromEntries(
          items.map(({ name, disabled }: { name: string; disabled: boolean }) => [name, disabled]),
        )
      }
      for (const name of ['lee', 'kim', 'park']) {
        await gateway.admin('POST', '/accounts', { name })
        await gateway.admin('POST', '/tokens', { account: name, name: `${name}-1` })
      }
      const old = await gateway.admin('POST', '/tokens', { account: 'lee', name: 'lee-old' })
      await gateway.admin('PATCH', `/tokens/${old.body.id}`, { disabled: true })
      const before = await states()
      await page.goto('/console/accounts')
      await select(page, ['lee', 'kim'])
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'bulk-accounts')
      await confirm(page, 'Disable API tokens of accounts (2)')
      await page.getByText('Accounts without enabled API tokens: 2').waitFor()
      expect(await states()).toEqual({ ...before, 'lee-1': true, 'kim-1': true })
      await undo(page)
      await untilTrue(states, (each) => !each['lee-1'] && !each['kim-1'])
      expect(await states()).toEqual(before)
    })

    test('models: what stands for others goes first and comes back last', async () => {
      const { page } = it
      const own = async () => {
        const { items } = (await gateway.admin('GET', '/models?limit=500')).body
        return items.filter(({ source }: { source: string }) => source === 'api')
      }
      const made = [
        ['house-a', { kind: 'text', interfaces: ['chat'], context_window: 9_000 }],
        ['house-b', { kind: 'text', virtual: ['house-a', 'txta-plus'], display_name: 'Home' }],
        ['house-c', { alias: 'house-b', display_name: 'House' }],
      ] as const
      for (const [name, body] of made) {
        expect((await gateway.admin('PUT', `/models/${name}`, body)).status).toBe(200)
      }
      const before = await own()
      expect(before).toHaveLength(3)
      await page.goto('/console/models?search=house')
      await select(
        page,
        made.map(([name]) => name),
      )
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'bulk-models')
      await confirm(page, 'Delete (3)')
      await page.getByText('Models deleted: 3').waitFor()
      expect(await own()).toEqual([])
      await undo(page)
      await untilTrue(own, (each) => each.length === 3)
      expect(await own()).toEqual(before)
    })

    test('models: what a form does not show stays as it is', async () => {
      const { page } = it
      for (const [name, shown] of [
        ['house-b', 'Home'],
        ['house-c', 'House'],
      ]) {
        await page.goto(`/console/models?open=${name}`)
        await page.getByRole('button', { name: 'Edit', exact: true }).click()
        const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT')
        await page.getByRole('button', { name: 'Save model', exact: true }).click()
        expect((await saved).status()).toBe(200)
        expect((await gateway.admin('GET', `/models?limit=500`)).body.items).toContainEqual(
          expect.objectContaining({ name, display_name: shown }),
        )
      }
    })

    test('prices: what was scheduled is withdrawn and restored, in Chinese', async () => {
      const terms = { unit: 'token', per_million: { input: '0.70', output: '1.70' } }
      const scheduled = async () => {
        const { items } = (await gateway.admin('GET', '/prices?limit=500')).body
        return items
          .filter(({ state }: { state: string }) => state === 'scheduled')
          .map(({ model, per_million, effective_from }: Record<string, unknown>) => ({
            ...{ model, per_million, effective_from },
          }))
          .toSorted((a: { model: string }, b: { model: string }) => (a.model < b.model ? -1 : 1))
      }
      for (const model of ['txta-plus', 'txta-turbo']) {
        const body = { model, ...terms, effective_from: next }
        expect((await gateway.admin('POST', '/prices', body)).status).toBe(201)
      }
      const before = await scheduled()
      expect(before).toHaveLength(2)
      const look = { language: 'zh', theme: 'dark', width: 390 } as const
      const { page, context, complaints } = await visit(browser, gateway.url, look)
      await signIn(page)
      await page.goto('/console/prices?search=txta')
      await page.getByRole('button', { name: '全选 2 个', exact: true }).click()
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'bulk-prices-zh-dark-390')
      await confirm(page, '撤销待生效价格（2）')
      await page.getByText('已撤销的待生效价格：2').waitFor()
      expect(await scheduled()).toEqual([])
      await undo(page, '撤销')
      await untilTrue(scheduled, (each) => each.length === 2)
      expect(await scheduled()).toEqual(before)
      expect(complaints).toEqual([])
      await context.close()
    })
  })
}
