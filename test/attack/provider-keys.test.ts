// Stored provider keys must not leave for a server that they were not given for, by no call of the
// admin API and for no role.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { newPerson, type SignedIn } from '../support/sign-in.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const storedKey = 'sk-live-stored-provider-key-77aa88bb'
const upstreamReply = () => jsonReply(completion({ prompt_tokens: 1, completion_tokens: 1 }))

let gateway: TestGateway
let upstream: TestUpstream
let thief: TestUpstream
let operator: SignedIn

beforeAll(async () => {
  upstream = startUpstream(upstreamReply)
  thief = startUpstream(upstreamReply)
  gateway = await startGateway()
  operator = await newPerson(gateway, { name: 'olga', role: 'operator' })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await thief.stop()
})

const newChannel = async (name: string, protocols: object = { chat: upstream.chat }) => {
  const made = await gateway.admin('POST', '/channels', {
    name,
    keys: [storedKey],
    protocols,
    models: { 'txta-plus': '*' },
  })
  expect(made.status).toBe(201)
  return made.body.id as string
}
const askThemAll = async (name: string) => {
  await operator.ask('POST', `/channels/${name}/discover`)
  await operator.ask('POST', `/channels/${name}/test`, {})
}
const stolen = () =>
  thief.calls.some(({ headers, body, path }) =>
    [...headers.values(), body, path].some((text) => text.includes(storedKey)),
  )

const elsewhere: readonly (readonly [string, () => object])[] = [
  ['another host', () => ({ chat: thief.chat })],
  ['another port of the same host', () => ({ chat: `${thief.url}/v1` })],
  ['a protocol more', () => ({ chat: upstream.chat, messages: thief.url })],
  ['another scheme', () => ({ chat: upstream.chat.replace('http:', 'https:') })],
  [
    'another spelling of the host',
    () => ({ chat: upstream.chat.replace('127.0.0.1', 'localhost') }),
  ],
]

test.each(elsewhere)('a change to %s needs the keys again', async (what, protocols) => {
  const name = `to-${what.replaceAll(' ', '-')}`
  const id = await newChannel(name)
  const bodies = [{ protocols: protocols() }, { protocols: protocols(), priority: 3 }]
  for (const body of bodies) {
    const refused = await operator.ask('PATCH', `/channels/${id}`, body)
    expect(refused.status).toBe(400)
    expect(refused.body.error).toMatchObject({ code: 'invalid_request', param: 'keys' })
  }
  // The admin token is no exception.
  const asBoss = await gateway.admin('PATCH', `/channels/${name}`, { protocols: protocols() })
  expect(asBoss.status).toBe(400)
  await askThemAll(name)
  expect(stolen()).toBe(false)
})

test('keys given anew replace the stored ones, which do not go along', async () => {
  const id = await newChannel('moved')
  const moved = await operator.ask('PATCH', `/channels/${id}`, {
    protocols: { chat: thief.chat },
    keys: ['key-of-the-new-place'],
  })
  expect(moved.status).toBe(200)
  await askThemAll('moved')
  expect(thief.calls.length).toBeGreaterThan(0)
  expect(stolen()).toBe(false)
})

test('another path of the same origin, or a protocol more there, keeps the keys', async () => {
  const id = await newChannel('same-origin')
  const protocols = { chat: `${upstream.url}/other/v1`, messages: upstream.url }
  expect((await operator.ask('PATCH', `/channels/${id}`, { protocols })).status).toBe(200)
  await operator.ask('POST', `/channels/${id}/test`, {})
  const sent = upstream.calls.at(-1)!
  expect(sent.path).toStartWith('/other/v1')
  expect(sent.headers.get('authorization')).toBe(`Bearer ${storedKey}`)
})

const yamlOf = (name: string, keys = '') => `channels:
  - name: ${name}${keys}
    protocols: { chat: "${thief.chat}" }
    models: { txta-plus: "*" }
`

test.each([
  ['without keys', ''],
  ['with the place of keys', '\n    keys: [PUT_THE_KEY_HERE]'],
])('an import %s cannot move a channel', async (how, keys) => {
  const name = `imported-${how.length}`
  await newChannel(name)
  const yaml = yamlOf(name, keys)
  const tried = await operator.ask('POST', '/channels/import', { yaml, dry_run: true })
  expect(tried.body.channels[0].change).toBe('refused')
  expect(tried.body.channels[0].problem).toContain('keys')
  const refused = await operator.ask('POST', '/channels/import', { yaml })
  expect(refused.status).toBe(400)
  expect(refused.body.error.message).toContain('keys')
  await askThemAll(name)
  expect(stolen()).toBe(false)
})

test('two changes at once do not let the keys pass between them', async () => {
  const id = await newChannel('raced')
  const moves = Array.from({ length: 5 }, (_, i) =>
    operator.ask('PATCH', `/channels/${id}`, { protocols: { chat: thief.chat }, priority: i }),
  )
  const keeps = operator.ask('PATCH', `/channels/${id}`, { protocols: { chat: upstream.chat } })
  for (const { status } of await Promise.all(moves)) expect(status).toBe(400)
  expect((await keeps).status).toBe(200)
  await askThemAll('raced')
  expect(stolen()).toBe(false)
})
