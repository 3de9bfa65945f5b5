// Channels at clouds in the console: the wizard and the form take an account in place of keys, say what is wrong with
// it, and never show it again. Rules and terms of data; which channels a data policy leaves; routing of a model.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import type { Browser, Locator, Page } from 'playwright-core'
import { qualifies } from '../../console/lib/resources/data-terms.ts'
import { cloudBody } from '../../console/pages/channels/cloud-draft.ts'
import {
  dataFrom,
  fulfils,
  requirementFrom,
} from '../../src/contract/config-schema/channel/data.ts'
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

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const aws = { access_key: 'AKIDCANARY0123456', secret_key: 'canary/secret+0123456789' }
const azure = { tenant: 'canary-tenant-1', client_id: 'canary-client', client_secret: 'canary~Q' }
const secrets = [...Object.values(aws), ...Object.values(azure), 'canary-project']

const converse = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
}
const generated = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}

function answerTo(path: string): Response {
  if (path.endsWith('/token')) return jsonReply({ access_token: 'canary-token', expires_in: 3600 })
  if (path.includes('/converse')) return jsonReply(converse)
  return jsonReply(path.includes(':generateContent') ? generated : completion({}))
}

test('the console says of a channel what the gateway decides', () => {
  const training = fc.constantFrom('no', 'opt_out', 'yes') as fc.Arbitrary<'no' | 'opt_out'>
  const days = fc.constantFrom(0, 7, 30)
  const region = fc.constantFrom('eu', 'us')
  const offer = fc.record({ training, retention_days: days, region }, { requiredKeys: [] })
  const need = fc.record(
    { training: fc.constant('no' as const), retention_days: days, region },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.option(offer), fc.option(need), (data, required) => {
      const asked = requirementFrom(required)
      expect(qualifies(data, required)).toBe(asked === undefined || fulfils(dataFrom(data), asked))
    }),
  )
})

test('what was typed is sent as the admin API takes it, without what was left empty', () => {
  const values = { ...azure, authority: ' ' }
  expect(cloudBody('azure', { mode: 'account', values })).toEqual({ auth: { azure } })
  const place = { location: 'global', project: 'p', service_account: '{}' }
  expect(cloudBody('google', { mode: 'machine', values: place })).toEqual({
    ...{ auth: { google: {} }, vertex: { location: 'global', project: 'p' } },
  })
  expect(cloudBody('aws', { mode: 'keys', values: { region: 'x' } })).toEqual({})
})

if (chromiumPath === undefined) {
  console.error('left out: clouds in the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('clouds in the console', () => {
    let gateway: TestGateway
    let upstream: TestUpstream
    let browser: Browser
    let it: Visit

    beforeAll(async () => {
      upstream = startUpstream(({ path }) => answerTo(path))
      gateway = await startGateway({})
      browser = await openBrowser()
      it = await visit(browser, gateway.url)
      await setUp(it.page, gateway.output())
    })
    afterAll(async () => {
      expect(it.complaints.filter((each) => !each.includes('400'))).toEqual([])
      await browser.close()
      await gateway.stop()
      await upstream.stop()
    })

    async function begin(page: Page, provider: string, [add, known, next]: readonly string[]) {
      await goTo(page, '/console/channels')
      await page.getByRole('button', { name: add! }).click()
      const dialog = page.getByRole('dialog', { name: add! })
      await dialog.getByRole('combobox', { name: known! }).click()
      await page.getByRole('option', { name: provider, exact: true }).click()
      await dialog.getByRole('button', { name: next! }).click()
      return dialog
    }
    const english = ['New channel', 'Known provider', 'Next'] as const
    const chinese = ['新建渠道', '已知提供商', '下一步'] as const
    const fill = async (dialog: Locator, fields: Readonly<Record<string, string>>) => {
      for (const [label, value] of Object.entries(fields)) {
        await dialog.getByLabel(label, { exact: false }).first().fill(value)
      }
    }

    test('Bedrock by the wizard: field errors, what will be sent, a test, and a model of its own', async () => {
      const { page } = it
      const dialog = await begin(page, 'Amazon Bedrock', english)
      await fill(dialog, {
        ...{ 'AWS region': 'EU Central', 'Access key ID': aws.access_key },
        ...{ 'Secret access key': aws.secret_key, 'Base URL': upstream.url },
        Models: 'nova = amazon.nova-pro-v1:0',
      })
      await dialog.getByText('Small letters, digits and dashes only.').waitFor()
      const run = dialog.getByRole('button', { name: 'Run test' })
      expect(await run.isDisabled()).toBe(true)
      await fill(dialog, { 'AWS region': 'eu-central-1' })
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'channel-bedrock')
      await run.click()
      await dialog.getByText(/^OK, /).waitFor()
      await dialog.getByText('This is what will be sent').waitFor()
      await dialog.getByText(`bedrock: ${upstream.url}/model/{model}/converse`).waitFor()
      await dialog.getByRole('button', { name: 'Next' }).click()
      await dialog.getByRole('checkbox', { name: 'nova' }).waitFor()
      await dialog.getByRole('button', { name: 'Activate' }).click()
      await dialog.getByRole('link', { name: 'nova' }).waitFor()
      await dialog.getByRole('button', { name: 'Done' }).click()
      const { body } = await gateway.admin('GET', '/channels/bedrock')
      expect([body.auth, body.models]).toEqual([
        { aws: { region: 'eu-central-1' } },
        { nova: 'amazon.nova-pro-v1:0' },
      ])
      const { body: models } = await gateway.admin('GET', '/models?limit=500')
      const nova = models.items.find(({ name }: { name: string }) => name === 'nova')
      expect([nova.kind, nova.interfaces]).toEqual(['text', ['chat']])
    })

    test('the form keeps the account, and takes rules and terms of data', async () => {
      const { page } = it
      await goTo(page, '/console/channels?open=bedrock')
      await page.getByRole('button', { name: 'Edit' }).click()
      const dialog = page.getByRole('dialog', { name: 'Edit' })
      await dialog.getByText('Leave empty to keep the current account.').waitFor()
      expect(await dialog.getByLabel('Secret access key').inputValue()).toBe('')
      await fill(dialog, { 'Request rules': '{ "headers": ' })
      await dialog.getByText('This is not JSON.').waitFor()
      await fill(dialog, {
        'Request rules':
          '{ "headers": { "set": { "x-team": "red" } }, "body": { "remove": ["user"] } }',
        'Retention (days)': '0',
        'Data region': 'eu',
      })
      await shoot(page, 'channel-cloud-form')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByText('Header set: x-team: red').waitFor()
      await page.getByText('Field removed: user').waitFor()
      await page.getByText('retention_days: 0, region: eu').waitFor()
      const { body } = await gateway.admin('GET', '/channels/bedrock')
      expect(body.auth).toEqual({ aws: { region: 'eu-central-1' } })
      const tried = await gateway.admin('POST', '/channels/bedrock/test', {})
      expect(tried.body.ok).toBe(true)
      expect(upstream.calls.at(-1)!.headers.get('x-team')).toBe('red')
      // A refusal of the gateway is shown at its field.
      await page.getByRole('button', { name: 'Edit' }).click()
      await fill(dialog, { 'Access key ID': 'AKIDCANARY0123456' })
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByRole('alert').first().waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      const html = await page.content()
      for (const secret of secrets) expect(html).not.toContain(secret)
    })

    test('a data policy shows which channels qualify before it is saved', async () => {
      const { page } = it
      await gateway.admin('POST', '/accounts', { name: 'acme' })
      const made = await gateway.admin('POST', '/tokens', { account: 'acme', name: 'careful' })
      await goTo(page, `/console/tokens?open=${made.body.id}`)
      await page.getByRole('button', { name: 'Edit' }).click()
      const dialog = page.getByRole('dialog', { name: 'Edit' })
      await fill(dialog, { 'Processed in region': 'mars' })
      await dialog.getByText('None: every call would be refused.').waitFor()
      await fill(dialog, { 'Processed in region': 'eu', 'Kept for days at most': '7' })
      await dialog.getByText('Channels that qualify: bedrock').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await shoot(page, 'token-data-policy')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByText('Channels that qualify: bedrock').waitFor()
      const { body } = await gateway.admin('GET', `/tokens/${made.body.id}`)
      expect(body.require).toEqual({ retention_days: 7, region: 'eu' })
    })

    test('a model is routed by latency, and stays so', async () => {
      const { page } = it
      await goTo(page, '/console/models?open=nova')
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('combobox', { name: 'Choice of channel' }).click()
      await page.getByRole('option', { name: /^By latency/ }).click()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('By latency: the one whose answers begin first').waitFor()
      const routing = async () => {
        const { body } = await gateway.admin('GET', '/models?limit=500')
        return body.items.find(({ name }: { name: string }) => name === 'nova').routing
      }
      expect(await routing()).toBe('latency')
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('button', { name: 'Edit' }).waitFor()
      expect(await routing()).toBe('latency')
    })

    test('Vertex and Azure in Chinese', async () => {
      const { page, complaints, context } = await visit(browser, gateway.url, { language: 'zh' })
      await signIn(page)
      const vertex = await begin(page, 'Google Vertex AI', chinese)
      const account = {
        client_email: 'gateway@canary-project.iam.example',
        private_key: privateKey,
        token_uri: `${upstream.url}/token`,
      }
      await fill(vertex, { 'Vertex 位置': 'europe-west1', '服务账号（JSON）': '{' })
      await vertex.getByText('不是有效的 JSON。').waitFor()
      await fill(vertex, { '服务账号（JSON）': JSON.stringify(account) })
      await vertex.getByText('其中没有项目：请填写项目 ID。').waitFor()
      await fill(vertex, { '项目 ID': 'canary-project', 模型: 'gem = gemini-x' })
      await fill(vertex, { 基础地址: upstream.url })
      expect(await seriousFindings(page)).toEqual([])
      await vertex.getByRole('button', { name: '开始测试' }).click()
      await vertex.getByText(/^可用，/).waitFor()
      await vertex.getByRole('button', { name: '下一步' }).click()
      await vertex.getByRole('button', { name: '启用' }).click()
      await vertex.getByRole('button', { name: '完成' }).click()
      const { body: made } = await gateway.admin('GET', '/channels/vertex')
      expect([made.auth, made.vertex]).toEqual([{ google: {} }, { location: 'europe-west1' }])

      const entra = await begin(page, 'Azure OpenAI with Entra ID', chinese)
      await fill(entra, {
        ...{ 租户: azure.tenant, '应用程序（客户端）ID': azure.client_id },
        ...{ 客户端密码: azure.client_secret, 颁发机构: upstream.url },
        ...{ 基础地址: upstream.url, 模型: 'gpt-here = deployment' },
      })
      await shoot(page, 'channel-entra-zh')
      await entra.getByRole('button', { name: '开始测试' }).click()
      await entra.getByText(/^可用，/).waitFor()
      const html = await page.content()
      for (const secret of Object.values(azure)) expect(html).not.toContain(secret)
      expect(complaints).toEqual([])
      await context.close()
    })
  })
}
