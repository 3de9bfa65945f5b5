// Nobody can pass for the admin token or the gateway in the audit log.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { newPerson, personPassword as password } from '../support/sign-in.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const post = async (path: string, body: object) => {
  const answer = await fetch(`${gateway.url}/admin/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

const taken = ['admin', 'Admin', 'GATEWAY', 'system', 'admin.', '_gateway_', '-system', '@admin']

test('neither the set-up, nor an administrator, nor an invitation makes such a name', async () => {
  const [, code = ''] = /set-up#(\w+)/.exec(gateway.output()) ?? []
  for (const name of taken) {
    const { status, text } = await post('/setup', { code, name, password })
    expect([name, status, text]).toEqual([name, 400, expect.stringContaining('admin, gateway or')])
    const made = await gateway.admin('POST', '/people', { name, password, role: 'operator' })
    expect([name, made.status, made.body.error.param]).toEqual([name, 400, 'name'])
    const { body } = await gateway.admin('POST', '/invitations', { role: 'operator' })
    const link = body.url.split('#')[1]
    const accepted = await post('/invitations/accept', { code: link, name, password })
    expect([name, accepted.status]).toEqual([name, 400])
  }
  for (const name of ['admin@example.com', 'administrator', 'ad-min', 'systemd']) {
    const made = await gateway.admin('POST', '/people', { name, password, role: 'operator' })
    expect([name, made.status]).toEqual([name, 201])
  }
})

test('the audit log tells a person, the admin token and the gateway apart', async () => {
  const ada = await newPerson(gateway, { name: 'ada', role: 'administrator' })
  const { body: made } = await ada.ask('POST', '/accounts', { name: 'by-ada' })
  await gateway.admin('POST', '/accounts', { name: 'by-token' })
  const { body: invited } = await gateway.admin('POST', '/invitations', { role: 'operator' })
  const code = invited.url.split('#')[1]
  expect((await post('/invitations/accept', { code, name: 'bob', password })).status).toBe(200)
  const rows = async (query: string) =>
    (await gateway.admin('GET', `/audit-log?${query}`)).body.items as Record<string, unknown>[]
  const { body: people } = await gateway.admin('GET', '/people')
  const id = people.items.find(({ name }: { name: string }) => name === 'ada').id
  const [own] = await rows(`subject=${made.id}`)
  expect(own).toMatchObject({ actor: 'ada', actor_kind: 'person', actor_id: id })
  const byToken = await rows('actor_kind=admin_token&action=account.create')
  expect(byToken).toMatchObject([{ actor: 'admin', actor_kind: 'admin_token', actor_id: null }])
  const [byLink] = await rows('actor_kind=gateway')
  expect(byLink).toMatchObject({ actor: 'gateway', action: 'person.create', actor_id: null })
  expect(await rows('actor_kind=person')).toHaveLength(1)
  expect((await gateway.admin('GET', '/audit-log?actor_kind=king')).status).toBe(400)
})
