// gateway doctor and a channel at AWS: it spends nothing, names no id, and says what is wrong.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tempDir } from '../../support/gateway.ts'
import { ownEnv } from '../../support/own-env.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../../support/upstream.ts'

const account = '210987654321'
const aws = { access_key: 'AKIDEXAMPLE12345', secret_key: 'secret-0123456789', region: 'eu-west-1' }

let reply: (model: string) => Response
let upstream: TestUpstream
beforeAll(() => {
  upstream = startUpstream(({ path }) => reply(path.split('/')[2]!))
})
afterAll(() => upstream.stop())

const refused = (type: string, status: number, message: string, headers = {}): Response =>
  jsonReply({ message }, { status, headers: { 'x-amzn-errortype': type, ...headers } })
const allowed = (headers = {}) =>
  refused('ValidationException', 400, 'The value at messages is null', headers)

async function findings() {
  const models = { nova: 'amazon.nova', claude: 'eu.anthropic.claude' }
  const config = {
    models: Object.keys(models).map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
    channels: [{ name: 'aws', auth: { aws }, protocols: { bedrock: upstream.url }, models }],
  }
  const path = join(tempDir(), 'gateway.yaml')
  writeFileSync(path, JSON.stringify(config))
  const child = Bun.spawn([join(root, 'bin/gateway'), 'doctor', '--json'], {
    ...{ cwd: tempDir(), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    env: { ...ownEnv, GATEWAY_PORT: '0', GATEWAY_DATA_DIR: tempDir(), GATEWAY_CONFIG: path },
  })
  const out = await new Response(child.stdout).text()
  for (const id of [account, aws.access_key, aws.secret_key]) expect(out).not.toContain(id)
  const read = JSON.parse(out) as { findings: { check: string; state: string; says: string }[] }
  return read.findings
    .filter(({ check }) => check === 'channel aws')
    .map(({ state, says }) => `${state}: ${says}`)
}

test('an account that may invoke its models is found well by requests that cost nothing', async () => {
  reply = () => allowed()
  expect(await findings()).toEqual(['ok: AWS takes the access key; 2 models may be invoked'])
  expect(upstream.calls.map(({ path, body }) => [path, body])).toEqual([
    ['/model/amazon.nova/converse', '{}'],
    ['/model/eu.anthropic.claude/converse', '{}'],
  ])
  expect(upstream.calls[0]!.headers.get('authorization')).toStartWith('AWS4-HMAC-SHA256 ')
})

test('a role that may not invoke a model, and a model that is not there', async () => {
  reply = (model) =>
    model === 'amazon.nova'
      ? refused('AccessDeniedException', 403, `arn:aws:iam::${account}:user/x is not authorized`)
      : refused('ResourceNotFoundException', 404, `not in ${account}`)
  expect(await findings()).toEqual([
    'problem: nova: the role may not invoke this model',
    'problem: claude: AWS has no such model in this region',
  ])
})

test('a clock that AWS does not take', async () => {
  const date = new Date(Date.now() + 6 * 60_000 + 5_000).toUTCString()
  reply = () => allowed({ date })
  expect(await findings()).toEqual([
    'problem: the clock is 6 minutes off: AWS will refuse what is signed by it',
  ])
})

const wholes: [type: string, message: string, says: string][] = [
  [
    'InvalidSignatureException',
    "Credential should be scoped to a valid region, not 'eu-west-1'.",
    'problem: AWS says that the region is not that of the host',
  ],
  ['ExpiredTokenException', 'expired', 'problem: the session token has expired'],
  [
    'UnrecognizedClientException',
    'The security token is invalid.',
    'problem: AWS refuses the access key (403)',
  ],
]
test.each(wholes)('%s is told once for the channel', async (type, message, says) => {
  reply = () => refused(type, 403, message)
  expect(await findings()).toEqual([says])
})
