// Accounts at clouds by reference: they come from files, a reload reads them again and the next call is made with the
// new ones, and neither is in the log or in what the admin API shows.
import { expect, test } from 'bun:test'
import { generateKeyPairSync, verify } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiToken, startGateway, tempDir } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

const pair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
const keys = [pair(), pair()] as const

const answers: [RegExp, object][] = [
  [/\/token$/, { access_token: 'token-of-google', expires_in: 3600 }],
  [
    /\/converse$/,
    {
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      ...{ stopReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
    },
  ],
  [
    /:generateContent$/,
    {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    },
  ],
]

test('files of accounts are read again by a reload, and are neither shown nor logged', async () => {
  const upstream = startUpstream(({ path }) =>
    jsonReply(answers.find(([end]) => end.test(path))?.[1] ?? {}),
  )
  const dir = tempDir()
  const at = (name: string) => join(dir, name)
  const write = (nth: 0 | 1) => {
    writeFileSync(at('access'), `AKIDCANARY000000${nth}\n`)
    writeFileSync(at('secret'), `canary-secret-${nth}\n`)
    const account = {
      client_email: `canary-${nth}@project.iam.example`,
      private_key: keys[nth].privateKey,
      ...{ project_id: `canary-project-${nth}`, token_uri: `${upstream.url}/token` },
    }
    writeFileSync(at('account.json'), JSON.stringify(account))
  }
  write(0)
  const file = (name: string) => `\${file:${at(name)}}`
  const names = ['nova', 'gem']
  const config = {
    accounts: [{ name: 'acme', balance: '10.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    channels: [
      {
        ...{ name: 'aws', protocols: { bedrock: upstream.url }, models: { nova: 'amazon.nova' } },
        auth: {
          aws: { access_key: file('access'), secret_key: file('secret'), region: 'eu-west-1' },
        },
      },
      {
        ...{ name: 'google', protocols: { generate: upstream.url }, models: { gem: 'gemini-x' } },
        auth: { google: { service_account: file('account.json') } },
        vertex: { location: 'global' },
      },
    ],
    models: names.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
    prices: names.map((model) => ({
      ...{ model, unit: 'token', per_million: { input: '1.00', output: '1.00' } },
    })),
  }
  const gateway = await startGateway({ config: JSON.stringify(config) })
  /** By which accounts the two calls were made. */
  const askBoth = async () => {
    for (const model of names) expect((await gateway.chat('Hi', { model })).status).toBe(200)
    const last = (end: RegExp) => upstream.calls.findLast(({ path }) => end.test(path))!
    const signed = last(/\/converse$/).headers.get('authorization')!
    const assertion = new URLSearchParams(last(/\/token$/).body).get('assertion')!
    const [head, claims, signature] = assertion.split('.')
    const nth = keys.findIndex(({ publicKey }) =>
      verify(
        'RSA-SHA256',
        Buffer.from(`${head}.${claims}`),
        publicKey,
        Buffer.from(signature!, 'base64url'),
      ),
    )
    return [
      /Credential=(\w+)/.exec(signed)?.[1],
      nth,
      /projects\/([^/]+)/.exec(last(/:generateContent$/).path)?.[1],
    ]
  }
  try {
    expect(await askBoth()).toEqual(['AKIDCANARY0000000', 0, 'canary-project-0'])
    write(1)
    process.kill(gateway.pid, 'SIGHUP')
    await until('the reload', async () =>
      gateway.output().includes('configuration reloaded') ? true : undefined,
    )
    expect(await askBoth()).toEqual(['AKIDCANARY0000001', 1, 'canary-project-1'])
    const { body } = await gateway.admin('GET', '/channels')
    expect(JSON.stringify(body) + gateway.output()).not.toMatch(/canary/i)
  } finally {
    await gateway.stop()
    await upstream.stop()
  }
})
