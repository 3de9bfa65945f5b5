// Books that somebody has altered behind a gateway's back: what docs/money/audit.md shows of an audit, and
// docs/run/admin-api.md of the alert that comes of it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { newPlace, type Place } from '../../src/store/test-stores.ts'
import { copyOf } from '../support/data/tampering.ts'
import { differences } from '../support/docs/answers.ts'
import { examplesIn, kindOf } from '../support/docs/fences.ts'
import { fencesOf } from '../support/docs/pages.ts'
import { stageOf, tryExample } from '../support/docs/stages.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { requestIdOf, until } from '../support/read.ts'

const env = { GATEWAY_MASTER_KEY: Buffer.alloc(32, 3).toString('base64') }
const config = `
accounts: [{ name: acme, balance: "100.00" }, { name: beta, balance: "10.00" }]
tokens: [{ account: acme, name: ci, token: ${apiToken} }]
`

let place: Place
let gateway: TestGateway
beforeAll(async () => {
  place = await newPlace('sqlite')
  await makeBooks()
  const copy = await copyOf(place.options)
  await copy.guard(false)
  const last = '(SELECT max(seq) FROM requests WHERE number IS NOT NULL)'
  await copy.ask(`UPDATE requests SET charge_nanos = charge_nanos - 1 WHERE seq = ${last}`)
  await copy.guard(true)
  await copy.end()
  gateway = await startGateway({ config, env, dataDir: copy.options.dataDir })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await place.remove()
})

async function makeBooks(): Promise<void> {
  const first = await startGateway({ config, env, dataDir: place.options.dataDir })
  let id = ''
  for (const tokens of [12, 30, 8]) {
    const answer = await first.chat(`Hello! [[sim:tokens=${tokens}]]`)
    await answer.text()
    id = requestIdOf(answer)
  }
  await until('the last receipt', async () => {
    const { body } = await first.admin('GET', `/explain/${id}`)
    return body.receipt ?? undefined
  })
  expect(await first.stop()).toBe(0)
}

test('docs/money/audit.md shows what an audit says of them', async () => {
  const [example] = examplesIn(fencesOf('docs/money/audit.md'), ['fails'])
  await tryExample(stageOf(gateway, 'docs/money/audit.md'), example!)
})

test('docs/run/admin-api.md shows the alert that came of it', async () => {
  const { body } = await gateway.admin('GET', '/alerts?kind=books')
  const shown = fencesOf('docs/run/admin-api.md').find((fence) => kindOf(fence) === 'json alert')
  expect(differences(JSON.parse(shown!.text), body.items[0])).toEqual([])
})
