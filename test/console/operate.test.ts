// What an operator does in the console with channels, the audit log, health and settings: ask an
// upstream for its models, bring in channels, follow a change, hand on a bundle without secrets.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
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
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const key = 'upk-CANARY-0123456789abcdef'

if (chromiumPath === undefined) {
  console.error('left out: operating in the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('operating in the console', () => {
    let gateway: TestGateway
    let upstream: TestUpstream
    let browser: Browser
    let it: Visit

    beforeAll(async () => {
      const ids = ['txta-plus', 'txta-turbo', 'writer-9']
      const models = { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) }
      upstream = startUpstream(({ path, headers }) => {
        if (headers.get('authorization')?.endsWith('-stale')) {
          return jsonReply({ error: { message: 'Incorrect API key' } }, { status: 401 })
        }
        return jsonReply(path.endsWith('/models') ? models : completion({}))
      })
      gateway = await startGateway({ env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1/32' } })
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      await setUp(it.page, gateway.output())
      const made = await gateway.admin('POST', '/channels', {
        name: 'cloud',
        keys: [key],
        protocols: { chat: `${upstream.url}/v1` },
        models: { 'txta-plus': '*', 'txta-vl-plus': '*' },
      })
      expect(made.status).toBe(201)
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
    })

    test("an upstream's models are compared, taken up and dropped", async () => {
      const { page } = it
      await goTo(page, '/console/channels?open=cloud')
      await page.getByRole('button', { name: 'Discover models' }).click()
      const dialog = page.getByRole('dialog', { name: 'Discover models' })
      await dialog.getByRole('heading', { name: 'New at the upstream (2)' }).waitFor()
      await dialog.getByRole('heading', { name: 'Already served (1)' }).waitFor()
      for (const name of ['txta-turbo', 'writer-9', 'txta-vl-plus']) {
        await dialog.getByRole('checkbox', { name }).check()
      }
      await dialog
        .getByText('These models cannot be called until they are in the catalog')
        .waitFor()
      await shoot(page, 'channel-discover')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Add 2, remove 1' }).click()
      await dialog.waitFor({ state: 'hidden' })
      const { body } = await gateway.admin('GET', '/channels/cloud')
      expect(body.models).toEqual({ 'txta-plus': '*', 'txta-turbo': '*', 'writer-9': '*' })
    })

    test('keys are tested, serve beside the old ones, and are never shown', async () => {
      const { page } = it
      await goTo(page, '/console/channels?open=cloud')
      const open = async () => {
        await page.getByRole('button', { name: 'Rotate keys' }).click()
        return page.getByRole('dialog', { name: 'Rotate keys' })
      }
      const keys = async () => (await gateway.admin('GET', '/channels/cloud')).body.keys
      const dialog = await open()
      const field = dialog.getByRole('textbox', { name: 'Keys' })
      await field.fill(`${key}-stale`)
      await dialog.getByRole('button', { name: 'Test and save' }).click()
      await dialog.getByText('Incorrect API key').waitFor()
      await dialog.getByText('Save the keys anyway').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      expect(await keys()).toBe(1)
      await field.fill(`${key}-b\n${key}-c`)
      await dialog.getByRole('button', { name: 'Test and save' }).click()
      await dialog.waitFor({ state: 'hidden' })
      expect(await keys()).toBe(3)
      await page.getByText('1: Good, 2: Good, 3: Good').waitFor()
      await open()
      await dialog.getByText('Remove old keys', { exact: true }).first().click()
      await dialog.getByRole('button', { name: 'Remove old keys' }).click()
      await dialog.waitFor({ state: 'hidden' })
      expect(await keys()).toBe(1)
      expect(await page.content()).not.toContain('CANARY')
    })

    test('a text is compared with the channels before it is saved', async () => {
      const { page } = it
      await goTo(page, '/console/channels')
      await page.getByRole('button', { name: 'Import YAML' }).click()
      const dialog = page.getByRole('dialog', { name: 'Import YAML' })
      const text = (weight: number) =>
        [
          'channels:',
          '  - name: cloud',
          '    keys: ["PUT_THE_KEY_HERE"]',
          `    protocols: { chat: "${upstream.url}/v1" }`,
          '    models: { "txta-plus": "*" }',
          `    weight: ${weight}`,
        ].join('\n')
      await dialog.getByLabel('YAML').fill('channels: [')
      await dialog.getByRole('button', { name: 'Review changes' }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByLabel('YAML').fill(text(3))
      await dialog.getByRole('button', { name: 'Review changes' }).click()
      await dialog.getByText('Changed', { exact: true }).waitFor()
      await dialog.getByText('models.writer-9').waitFor()
      expect((await gateway.admin('GET', '/channels/cloud')).body.weight).toBe(1)
      await shoot(page, 'channel-import')
      expect(await seriousFindings(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'hidden' })
      const { body } = await gateway.admin('GET', '/channels/cloud')
      expect([body.weight, body.models, body.keys]).toEqual([3, { 'txta-plus': '*' }, 1])
    })

    test('a change is found by what was done, and read field by field', async () => {
      const { page } = it
      await goTo(page, '/console/audit-log?action=channel.update&actor=ada')
      const rows = page.locator('[role=row][data-clickable]')
      await rows.nth(3).waitFor()
      expect(await rows.count()).toBe(4)
      expect(await rows.first().textContent()).toContain('cloud')
      await rows.first().click()
      const sheet = page.getByRole('dialog', { name: 'Edit channel' })
      await sheet.getByText('weight', { exact: true }).waitFor()
      expect(await sheet.locator('del, ins').allTextContents()).toEqual(
        expect.arrayContaining(['1', '3']),
      )
      await sheet.getByText('127.0.0.1', { exact: true }).waitFor()
      await sheet.locator('[title^="req_"]').waitFor()
      await shoot(page, 'audit-sheet')
      expect(await seriousFindings(page)).toEqual([])
      await sheet.getByText('All changes to this resource').click()
      await page.waitForURL(/audit-log\?subject=chn_/)
      await rows.nth(4).waitFor()
    })

    test('health has a bundle for whoever helps, without secrets', async () => {
      const { page } = it
      await goTo(page, '/console/health')
      await page.getByText('Free disk space').waitFor()
      await page.getByRole('heading', { name: 'Recent warnings and errors' }).waitFor()
      const coming = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download diagnostics' }).click()
      const file = await coming
      expect(file.suggestedFilename()).toStartWith('gateway-diagnostics-')
      const text = await Bun.file(await file.path()).text()
      expect(JSON.parse(text).settings.yaml.effective).toContain('name: cloud')
      expect(text).not.toContain('CANARY')
      await shoot(page, 'health')
      expect(await seriousFindings(page)).toEqual([])
    })

    test('settings show what is in force, how it differs from the file, and the secret', async () => {
      const { page } = it
      await goTo(page, '/console/settings')
      await page.locator('[aria-label="Effective"]').waitFor()
      await page.getByText('Difference').click()
      await page.waitForURL(/yaml=difference/)
      await page.getByText('name: cloud').waitFor()
      expect(await page.content()).not.toContain('CANARY')
      await page.getByRole('button', { name: 'Show secret' }).click()
      const { secret } = (await gateway.admin('GET', '/callback-secret')).body
      await page.getByText(secret).waitFor()
      await page.getByLabel('Test URL').fill(`${upstream.url}/hook`)
      await page.getByRole('button', { name: 'Send test' }).click()
      await page.getByText(/^Accepted with status 200/).waitFor()
      expect(upstream.calls.at(-1)!.headers.get('webhook-signature')).toStartWith('v1,')
      await shoot(page, 'settings')
      expect(await seriousFindings(page)).toEqual([])
      // What was no YAML has been refused, and Chromium says so.
      expect(it.complaints.filter((each) => !each.includes('status of 400'))).toEqual([])
    })

    test('a model is taken from the list of a channel, with its price, and can be called', async () => {
      const { page } = it
      await goTo(page, '/console/models')
      await page.getByRole('button', { name: 'Add model' }).click()
      await page.getByRole('menuitem', { name: 'From a channel' }).click()
      await page.getByRole('combobox', { name: 'Channel' }).click()
      await page.getByRole('option', { name: 'cloud' }).click()
      await page.getByRole('button', { name: 'Add writer-9' }).click()
      const drawer = page.getByRole('dialog', { name: 'Add a model from a channel' })
      expect(await drawer.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(
        'writer-9',
      )
      await drawer.getByLabel('Input', { exact: true }).fill('0.5')
      await drawer.getByLabel('Output', { exact: true }).fill('2')
      await shoot(page, 'model-from-channel')
      expect(await seriousFindings(page)).toEqual([])
      await drawer.getByRole('button', { name: 'Save model' }).click()
      await page.getByRole('dialog', { name: 'writer-9' }).getByText('Yes').waitFor()
      const { body } = await gateway.admin('GET', '/channels/cloud')
      expect(body.models['writer-9']).toBe('*')
    })

    test('all of it reads well in Chinese, in the dark, on a phone', async () => {
      const poll = { language: 'zh', theme: 'dark', width: 390 } as const
      const { page, context, complaints } = await visit(browser, gateway.url, poll)
      await signIn(page)
      for (const [path, text] of [
        ['/console/health', '近期警告与错误'],
        ['/console/settings?yaml=difference', 'YAML 配置'],
        ['/console/audit-log', '操作人'],
        ['/console/channels?open=cloud', '发现模型'],
      ] as const) {
        await goTo(page, path)
        await page.getByText(text).first().waitFor()
        await shoot(page, `phone-${path.split(/[/?]/)[2]}`)
        expect(await seriousFindings(page)).toEqual([])
        const wider = 'document.documentElement.scrollWidth - innerWidth'
        expect([path, await page.evaluate<number>(wider)]).toEqual([path, 0])
      }
      await page.getByRole('button', { name: '发现模型' }).click()
      await page.getByText('上游新增（1）').waitFor()
      await shoot(page, 'phone-discover')
      expect(await seriousFindings(page)).toEqual([])
      expect(complaints).toEqual([])
      await context.close()
    })
  })
}
