// Actions on several rows at once, and the way back from what can be undone, in a real browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  goTo,
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

if (chromiumPath === undefined) {
  console.error('left out: bulk actions in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('several rows at once', () => {
    let gateway: TestGateway
    let browser: Browser
    let it: Visit
    let page: Page

    beforeAll(async () => {
      gateway = await startGateway()
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      page = it.page
      await setUp(page, gateway.output())
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
    })

    const button = (on: Page, name: string) => on.getByRole('button', { name, exact: true })
    const isDisabled = async (path: string, ids: readonly string[]) =>
      Promise.all(
        ids.map(async (id) => (await gateway.admin('GET', `${path}/${id}`)).body.disabled),
      )
    const tokens = (names: readonly string[]): Promise<string[]> =>
      Promise.all(
        names.map(async (name) => {
          const made = await gateway.admin('POST', '/tokens', { account: 'acme', name })
          return made.body.id as string
        }),
      )

    test('tokens are disabled after one confirmation, and enabled again by Undo', async () => {
      const ids = await tokens(['one', 'two', 'three'])
      await page.goto('/console/tokens')
      for (const name of ['one', 'two']) {
        await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check()
      }
      await shoot(page, 'bulk-tokens')
      await button(page, 'Disable (2)').click()
      const dialog = page.getByRole('dialog', { name: 'Disable (2)' })
      await dialog.getByText(/^Calls with the selected tokens are refused/).waitFor()
      await button(page, 'Change nothing').click()
      await dialog.waitFor({ state: 'hidden' })
      expect(await isDisabled('/tokens', ids)).toEqual([false, false, false])
      await button(page, 'Disable (2)').click()
      await dialog.getByRole('button', { name: 'Disable (2)' }).click()
      const toast = page.getByRole('region', { name: 'Last action' })
      await toast.getByText('Tokens disabled: 2').waitFor()
      await dialog.waitFor({ state: 'hidden' })
      expect(await isDisabled('/tokens', ids)).toEqual([true, true, false])
      await shoot(page, 'undo')
      expect(await seriousFindings(page)).toEqual([])
      await toast.getByRole('button', { name: /^Undo/ }).focus()
      await page.keyboard.press('Enter')
      await toast.waitFor({ state: 'hidden' })
      expect(await isDisabled('/tokens', ids)).toEqual([false, false, false])
    })

    test('what is refused is told by its row, and the others are done', async () => {
      const [gone, left] = await tokens(['gone', 'left'])
      await page.goto('/console/tokens')
      for (const name of ['gone', 'left']) {
        await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check()
      }
      await gateway.admin('DELETE', `/tokens/${gone}`)
      await button(page, 'Disable (2)').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Disable (2)' }).click()
      const failures = page.getByRole('alert').filter({ hasText: '1 could not be changed' })
      await failures.getByText(/^gone: /).waitFor()
      await page.getByText('Tokens disabled: 1').waitFor()
      expect(await isDisabled('/tokens', [left!])).toEqual([true])
    })

    test('what nothing can undo says so before, in both languages', async () => {
      await tokens(['first', 'second'])
      for (const [language, select, revoke, says] of [
        ['en', 'Select', 'Revoke (1)', 'This cannot be undone.'],
        ['zh', '选择', '吊销（1）', '此操作无法撤销。'],
      ] as const) {
        const { page: theirs, context } = await visit(browser, gateway.url, { language })
        await signIn(theirs)
        await goTo(theirs, '/console/tokens')
        await theirs.getByRole('checkbox', { name: `${select} first`, exact: true }).check()
        await button(theirs, revoke).click()
        await theirs.getByRole('dialog').getByText(says).waitFor()
        await context.close()
      }
    })

    test('channels are taken out in Chinese, and the key u brings them back', async () => {
      const made = await Promise.all(
        ['left', 'right'].map((name) =>
          gateway.admin('POST', '/channels', {
            ...{ name, keys: ['upk-0123456789abcdef'], models: { 'txta-plus': '*' } },
            protocols: { chat: 'http://127.0.0.1:9/v1' },
          }),
        ),
      )
      const ids = made.map(({ body }) => body.id as string)
      const look = { language: 'zh', theme: 'dark', width: 390 } as const
      const { page: other, context, complaints } = await visit(browser, gateway.url, look)
      await signIn(other)
      await goTo(other, '/console/channels')
      await button(other, '全选 2 个').click()
      await button(other, '停止接单（2）').click()
      await other.getByRole('dialog').getByRole('button', { name: '停止接单（2）' }).click()
      await other.getByText('已停止接单的渠道：2').waitFor()
      await other.getByRole('dialog').waitFor({ state: 'hidden' })
      await shoot(other, 'undo-zh-dark-390')
      expect(await isDisabled('/channels', ids)).toEqual([true, true])
      await other.keyboard.press('u')
      await untilTrue(
        () => isDisabled('/channels', ids),
        (each) => !each.includes(true),
      )
      expect(complaints).toEqual([])
      await context.close()
    })
  })
}
