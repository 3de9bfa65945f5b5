// gateway doctor and channels at clouds: it spends nothing, names no id, and says what is wrong.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tempDir } from '../../support/gateway.ts'
import { ownEnv } from '../../support/own-env.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../../support/upstream.ts'

const account = '210987654321'
const aws = { access_key: 'AKIDEXAMPLE12345', secret_key: 'secret-0123456789', region: 'eu-west-1' }

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const google = {
  client_email: 'gateway@secret-77.iam.example',
  private_key: privateKey,
  project_id: 'project-secret-77',
}
const azure = {
  tenant: '72f988bf-0001-41af-91ab-2d7cd011db47',
  client_id: '4ad1c9f2-7c5e-4c3a-9d9e-0c1f0a5b6c7d',
  client_secret: 'entra~secret-89ab',
}
const secrets = [
  ...[account, aws.access_key, aws.secret_key, google.client_email, google.project_id],
  ...[privateKey.split('\n')[3]!, ...Object.values(azure)],
]

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

const findings = async () => {
  const models = { nova: 'amazon.nova', claude: 'eu.anthropic.claude' }
  const channel = { name: 'aws', auth: { aws }, protocols: { bedrock: upstream.url }, models }
  return (await diagnose([channel])).get('channel aws')
}

/** What one run says of each channel. */
async function diagnose(channels: readonly { models: object }[]): Promise<Map<string, string[]>> {
  const names = [...new Set(channels.flatMap(({ models }) => Object.keys(models)))]
  const config = {
    models: names.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
    channels,
  }
  const path = join(tempDir(), 'gateway.yaml')
  writeFileSync(path, JSON.stringify(config))
  const child = Bun.spawn([join(root, 'bin/gateway'), 'doctor', '--json'], {
    ...{ cwd: tempDir(), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    env: { ...ownEnv, GATEWAY_PORT: '0', GATEWAY_DATA_DIR: tempDir(), GATEWAY_CONFIG: path },
  })
  const out = await new Response(child.stdout).text()
  for (const id of secrets) expect(out).not.toContain(id)
  const read = JSON.parse(out) as { findings: { check: string; state: string; says: string }[] }
  const said = new Map<string, string[]>()
  for (const { check, state, says } of read.findings) {
    said.set(check, [...(said.get(check) ?? []), `${state}: ${says}`])
  }
  return said
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

interface Case {
  name: string
  /** Of the token endpoint; left out, it gives a token. */
  token?: Response
  /** Of each call. */
  answer?: Response
  says: string[]
}

const good = () => jsonReply({ access_token: 'token', expires_in: 3600 })
const noToken = (error: string, error_description: string, status = 400): Response =>
  jsonReply({ error, error_description }, { status })
const of = (message: string) => `${message} ${google.project_id} ${azure.tenant}`
const refusedByGoogle = (status: number, word: string, message: string): Response =>
  jsonReply({ error: { code: status, status: word, message: of(message) } }, { status })
const refusedByAzure = (status: number, code: string, message: string): Response =>
  jsonReply({ error: { code, message: of(message) } }, { status })

/** All cases of a cloud in one run, each a channel of its own; `at` is its base and its token endpoint. */
async function diagnoseAll(
  cases: readonly Case[],
  channelOf: (at: string) => object,
): Promise<void> {
  const server = startUpstream(({ path }) => {
    const [, id = '', kind] = path.split('/')
    const each = cases[Number(id.slice(1))]
    const answer = kind === 'token' ? (each?.token ?? good()) : each?.answer
    // What is asked for the time has no path.
    return path === '/' || answer === undefined
      ? new Response()
      : (answer.clone() as unknown as Response)
  })
  const models = { one: 'the-model' }
  const channels = cases.map((_, at) => ({
    ...{ name: `c${at}`, models, ...channelOf(`${server.url}/c${at}`) },
  }))
  const said = await diagnose(channels)
  await server.stop()
  const found = cases.map(({ name }, at) => [name, said.get(`channel c${at}`)])
  expect(found).toEqual(cases.map(({ name, says }) => [name, says]))
}

test('Vertex: tokens, the API, the project, the location and the role', async () => {
  const invalid = refusedByGoogle(400, 'INVALID_ARGUMENT', 'contents is not specified')
  const jwt = 'Invalid JWT: Token must be a short-lived token and in a reasonable timeframe.'
  await diagnoseAll(
    [
      {
        ...{ name: 'well', answer: invalid },
        says: ['ok: Google takes the account; 1 models may be invoked'],
      },
      {
        ...{
          name: 'clock',
          token: noToken('invalid_grant', `${jwt} Check your iat and exp values.`),
        },
        says: [
          'problem: Google refuses what the service account has signed, by the clock of this machine',
        ],
      },
      {
        ...{ name: 'key', token: noToken('invalid_grant', 'Invalid JWT Signature.') },
        says: [
          'problem: the key of the service account is no longer valid, or the account is gone',
        ],
      },
      {
        name: 'API',
        answer: refusedByGoogle(
          403,
          'PERMISSION_DENIED',
          'Vertex AI API has not been used in project 1',
        ),
        says: ['problem: the Vertex AI API is not enabled in this project'],
      },
      {
        name: 'project',
        answer: refusedByGoogle(403, 'PERMISSION_DENIED', 'Permission denied on resource project'),
        says: ['problem: the project does not exist, or the account may not use it'],
      },
      {
        name: 'role',
        answer: refusedByGoogle(403, 'PERMISSION_DENIED', "'aiplatform.endpoints.predict' denied"),
        says: ['problem: one: the role may not invoke this model'],
      },
      {
        name: 'location',
        answer: refusedByGoogle(
          400,
          'FAILED_PRECONDITION',
          'is not servable in region europe-west1',
        ),
        says: ['problem: one: it is not served at this location'],
      },
      {
        name: 'model',
        answer: refusedByGoogle(404, 'NOT_FOUND', 'Publisher Model was not found'),
        says: [
          'problem: one: Google has no such model at this location, or the project may not see it',
        ],
      },
      {
        name: 'down',
        answer: refusedByGoogle(503, 'UNAVAILABLE', 'later'),
        says: ['warning: Google answers 503'],
      },
    ],
    (at) => ({
      auth: { google: { service_account: { ...google, token_uri: `${at}/token` } } },
      vertex: { location: 'europe-west1' },
      protocols: { generate: at },
    }),
  )
})

test('a clock that Google does not take is told in minutes', async () => {
  const date = new Date(Date.now() + 6 * 60_000 + 5_000).toUTCString()
  const server = startUpstream(({ path }) =>
    path === '/'
      ? new Response(null, { headers: { date } })
      : noToken('invalid_grant', 'Check your iat and exp values'),
  )
  const said = await diagnose([
    {
      ...{ name: 'g', models: { one: 'm' }, vertex: { location: 'eu' } },
      auth: { google: { service_account: { ...google, token_uri: `${server.url}/token` } } },
      protocols: { generate: server.url },
    } as { models: object },
  ])
  await server.stop()
  expect(said.get('channel g')).toEqual([
    'problem: the clock is 6 minutes off: Google will refuse what is signed by it',
  ])
})

test('Azure: the tenant, the secret, the role, the deployment and the resource', async () => {
  const entra = (code: string, error = 'invalid_client') =>
    noToken(error, `AADSTS${code}: wrong for ${azure.client_id} in ${azure.tenant}`, 401)
  await diagnoseAll(
    [
      {
        ...{ name: 'well', answer: refusedByAzure(400, 'BadRequest', 'messages is required') },
        says: ['ok: Azure takes the application; 1 models may be invoked'],
      },
      {
        ...{ name: 'tenant', token: entra('90002', 'invalid_request') },
        says: ['problem: there is no such tenant'],
      },
      {
        ...{ name: 'application', token: entra('700016', 'unauthorized_client') },
        says: ['problem: the tenant has no such application'],
      },
      {
        name: 'expired',
        token: entra('7000222'),
        says: ['problem: the client secret has expired'],
      },
      { name: 'secret', token: entra('7000215'), says: ['problem: the client secret is wrong'] },
      {
        ...{ name: 'other', token: entra('50034') },
        says: [
          'problem: the cloud gave no access token for this channel: 401 invalid_client AADSTS50034',
        ],
      },
      {
        name: 'tenants',
        answer: refusedByAzure(400, 'Tenant', 'Token tenant does not match resource tenant.'),
        says: ['problem: the application is of another tenant than the resource'],
      },
      {
        name: 'role',
        answer: refusedByAzure(401, 'PermissionDenied', 'lacks the required data action'),
        says: ['problem: one: the role may not invoke this model'],
      },
      {
        name: 'firewall',
        answer: refusedByAzure(403, '403', 'Access denied due to Virtual Network/Firewall rules.'),
        says: ['problem: the firewall of the resource refuses this machine'],
      },
      {
        name: 'deployment',
        answer: refusedByAzure(404, 'DeploymentNotFound', 'The API deployment does not exist.'),
        says: ['problem: one: the resource has no such deployment'],
      },
      {
        name: 'resource',
        answer: refusedByAzure(404, '404', 'Resource not found'),
        says: ['problem: Azure has no resource at this address (404)'],
      },
    ],
    (at) => ({ auth: { azure: { ...azure, authority: `${at}/token` } }, protocols: { chat: at } }),
  )
})
