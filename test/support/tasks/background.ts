// A gateway with models over one upstream style each, for responses that are made in the background: by the
// upstream itself (`over-responses`), and by the gateway (`over-chat` and the like, `over-plain`).
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts'
import type { Place } from '../../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../gateway.ts'
import { oneWireConfig, wireKey } from '../one-wire.ts'
import { until } from '../read.ts'

export const otherToken = 'sk-other-0123456789abcdefghijklmno'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Answer = { status: number; headers: Headers; body: any }

export const backgroundSandbox = (): Sandbox => startSandbox({ key: wireKey, taskSeconds: 1 })

const plain = (sandbox: Sandbox) => ({
  name: 'plain',
  keys: [wireKey],
  protocols: { responses: sandbox.protocols.responses },
  capabilities: { background: false },
  models: { 'over-plain': 'txta-plus' },
})

export const backgroundConfig = (sandbox: Sandbox, more: object = {}): string =>
  JSON.stringify({
    ...oneWireConfig(sandbox, {
      model: () => ({ interfaces: ['responses'] }),
      config: {
        accounts: [{ name: 'other', balance: '10.00' }],
        tokens: [{ account: 'other', name: 'test', token: otherToken }],
        channels: [plain(sandbox)],
        models: [{ name: 'over-plain', kind: 'text', interfaces: ['responses'] }],
        prices: [
          { model: 'over-plain', unit: 'token', per_million: { input: '1.00', output: '2.00' } },
        ],
      },
    }),
    ...more,
  })

export function startBackground(
  sandbox: Sandbox,
  place: Place,
  env: Record<string, string> = {},
  more: object = {},
): Promise<TestGateway> {
  const { dataDir, databaseUrl } = place.options
  return startGateway({
    config: backgroundConfig(sandbox, more),
    dataDir,
    env: {
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      ...env,
    },
  })
}

export async function ask(
  { url }: Pick<TestGateway, 'url'>,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/v1/responses${path}`, {
    method,
    headers: { authorization: `Bearer ${apiToken}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

export const create = (
  gateway: Pick<TestGateway, 'url'>,
  model: string,
  input: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> => ask(gateway, 'POST', '', { model, input, background: true, ...more }, headers)

/** Far longer than it takes; a machine may be busy. */
const endMs = 60_000

/** Its last view. */
export const ended = (gateway: Pick<TestGateway, 'url'>, id: string): Promise<Answer> =>
  until(
    `response ${id} to end`,
    async () => {
      const answer = await ask(gateway, 'GET', `/${id}`)
      const isOpen = ['queued', 'in_progress'].includes(answer.body.status)
      return isOpen ? undefined : answer
    },
    endMs,
  )
