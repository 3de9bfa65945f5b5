// The way back from a saved form and from what was deleted, in a real browser: as it was before, in the store too.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Locator, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  seriousFindings,
  setUp,
  shoot,
  signIn,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'

const languages = ['en', 'zh'] as const

if (chromiumPath === undefined) {
  console.error('left out: undo in a browser (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe.each(languages)('what was saved is undone, in %s', (language) => {
    let gateway: TestGateway
    let browser: Browser
    let page: Page
    let complaints: string[]
    const w = (en: string, zh: string): string => (language === 'en' ? en : zh)

    beforeAll(async () => {
      gateway = await startGateway()
      browser = await openBrowser()
      const first = await visit(browser, gateway.url)
      await setUp(first.page, gateway.output())
      await first.context.close()
      const it = await visit(browser, gateway.url, { language })
      page = it.page
      complaints = it.complaints
      await signIn(page)
    })
    afterAll(async () => {
      expect(complaints).toEqual([])
      await browser.close()
      await gateway.stop()
    })

    const press = (name: string, place: Page | Locator = page) =>
      place.getByRole('button', { name, exact: true }).click()
    const top = () => page.getByRole('dialog').last()
    const made = async (path: string, body: object) => {
      const answer = await gateway.admin('POST', path, body)
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return answer.body.id as string
    }
    const read = async (path: string) => (await gateway.admin('GET', path)).body

    const pressUndo = () =>
      page
        .getByRole('region', { name: w('Last action', '最近的操作') })
        .getByRole('button', { name: new RegExp(`^${w('Undo', '撤销')}`) })
        .click()

    /** `act` changes what `path` shows; Undo brings all of it back. */
    const undone = async (path: string, act: () => Promise<void>) => {
      const before = await read(path)
      await act()
      await until(`${path} to change`, async () =>
        Bun.deepEquals(await read(path), before) ? undefined : true,
      )
      await pressUndo()
      await until(`${path} as before`, async () =>
        Bun.deepEquals(await read(path), before) ? true : undefined,
      )
    }

    test('settings of an account', async () => {
      await gateway.admin('POST', '/accounts', { name: 'lee', tag_names: ['team'] })
      await page.goto('/console/accounts?open=lee')
      await undone('/accounts/lee', async () => {
        await press(w('Edit settings', '编辑设置'))
        await top()
          .getByLabel(new RegExp(w('Low-balance threshold', '余额预警线')))
          .fill('5')
        await press(w('Save', '保存'), top())
        await page.getByText(w('Saved: lee', '已保存：lee')).waitFor()
        await shoot(page, `undo-settings-${language}`)
        expect(await seriousFindings(page)).toEqual([])
      })
    })

    test('a token, with the moment at which it expires', async () => {
      const expires_at = '2031-03-03T03:04:05Z'
      const limits = { rpm: 7 }
      const id = await made('/tokens', { account: 'acme', name: 'app', expires_at, limits })
      await page.goto(`/console/tokens?open=${id}`)
      await undone(`/tokens/${id}`, async () => {
        await press(w('Edit', '编辑'), top())
        await top()
          .getByLabel(new RegExp(`^${w('Name', '名称')}`))
          .fill('other')
        await press(w('Save', '保存'), top())
      })
    })

    test('a channel', async () => {
      const id = await made('/channels', {
        ...{ name: 'cloud', keys: ['upk-0123456789abcdef'], models: { 'txta-plus': '*' } },
        protocols: { chat: 'http://127.0.0.1:9/v1' },
      })
      await page.goto(`/console/channels?open=${id}`)
      await undone(`/channels/${id}`, async () => {
        await press(w('Edit', '编辑'), top())
        await top().getByLabel(w('Priority', '优先级')).fill('7')
        await press(w('Save', '保存'), top())
      })
    })

    test('a model that is built in, and one that is not', async () => {
      const body = { kind: 'text', interfaces: ['chat'], routing: 'latency', training: 'no' }
      expect((await gateway.admin('PUT', '/models/house', body)).status).toBe(200)
      await page.goto('/console/models?open=txta-plus')
      await undone('/models?limit=500', async () => {
        await press(w('Edit', '编辑'), top())
        await top()
          .getByLabel(new RegExp(`^${w('Display name', '显示名称')}`))
          .fill('Renamed')
        await press(w('Save model', '保存模型'), top())
      })
      await page.goto('/console/models?open=house')
      await undone('/models?limit=500', async () => {
        await press(w('Delete model', '删除模型'), top())
        await press(w('Delete model', '删除模型'), top())
        await page.getByText(w('Deleted: house', '已删除：house')).waitFor()
      })
    })

    test('the role of a person', async () => {
      await made('/people', { name: 'pat', role: 'operator', password })
      await page.goto('/console/people')
      await undone('/people', async () => {
        await press(w('Actions for pat', 'pat 的操作'))
        await page.getByRole('menuitem', { name: w('Change role', '更改角色') }).click()
        await top().getByRole('combobox').click()
        await page.getByRole('option', { name: w('Finance', '财务'), exact: true }).click()
        await press(w('Change role', '更改角色'), top())
      })
    })

    test('a subscription, which says before it is deleted that this is final', async () => {
      const url = 'https://hooks.example/gateway'
      const id = await made('/webhooks', { url, events: ['price.changed'] })
      await page.goto('/console/alerts?tab=subscriptions')
      await page.getByRole('row', { name: /hooks\.example/ }).click()
      await undone(`/webhooks/${id}`, () => press(w('Disable', '停用'), top()))
      await undone(`/webhooks/${id}`, async () => {
        await press(w('Edit', '编辑'), top())
        await top().getByRole('checkbox').first().check()
        await press(w('Save', '保存'), top())
      })
      await press(w('Delete', '删除'), top())
      await top().getByText(w('This cannot be undone.', '此操作无法撤销。')).waitFor()
      expect(await seriousFindings(page)).toEqual([])
    })

    test('a cost and a price that were withdrawn before they began', async () => {
      const amounts = { unit: 'token', per_million: { input: '0.40', output: '1.00' } }
      const effective_from = '2031-03-03T00:00:00Z'
      const version = { model: 'txta-plus', ...amounts, effective_from }
      const shown = ({ items }: { items: Record<string, unknown>[] }) =>
        items.map(({ id: _, created_by: __, ...rest }) => rest)
      const withdrawn = async (path: string, act: () => Promise<void>) => {
        const before = shown(await read(path))
        await act()
        await pressUndo()
        await until(`${path} as before`, async () =>
          Bun.deepEquals(shown(await read(path)), before) ? true : undefined,
        )
      }
      await made('/channels', {
        ...{ name: 'upstream', keys: ['upk-0123456789abcdef'], models: { 'txta-plus': '*' } },
        protocols: { chat: 'http://127.0.0.1:9/v1' },
      })
      await made('/costs', { channel: 'upstream', ...version })
      await page.goto('/console/costs')
      await withdrawn('/costs', async () => {
        await press(w('Withdraw upstream txta-plus', '撤销 upstream txta-plus'))
        await press(w('Withdraw cost', '撤销成本'), top())
      })
      await made('/prices', version)
      await page.goto('/console/prices?open=txta-plus')
      await withdrawn('/prices?model=txta-plus', async () => {
        await press(w('Withdraw', '撤销'), top())
        await press(w('Withdraw price', '撤销价格'), top())
      })
    })
  })
}
