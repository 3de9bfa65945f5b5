// The commands of the pages of docs/money and of docs/run/backup.md, run in the order of the pages: the
// calls they tell of are made, and backups are taken and restored.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { type Example, examplesIn, startFence } from '../support/docs/fences.ts'
import { fencesOf } from '../support/docs/pages.ts'
import { type PageStage, stageOf, tryExample } from '../support/docs/stages.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { requestIdOf, until } from '../support/read.ts'

const has = { postgres: storeKinds.includes('postgres') }
const needsPostgres = ({ text }: Example) => text.includes('postgres://')
if (!has.postgres) {
  console.error(
    'left out: restoring into PostgreSQL as docs/run/backup.md shows (set TEST_POSTGRES_URL)',
  )
}

const examplesOf = (page: string, ...marks: string[]) => examplesIn(fencesOf(page), marks)
const tokenOf = (account: string) => `sk-${account}-0123456789abcdefghijklmnop`
const accounts = { acme: '100.00', beta: '10.00', gamma: '10.00', long: '10.00' }
const config = `
accounts:
${Object.entries(accounts)
  .map(([name, balance]) => `  - { name: ${name}, balance: "${balance}" }\n`)
  .join('')}
tokens:
${Object.keys(accounts)
  .map((name) => `  - { account: ${name}, name: ci, token: ${tokenOf(name)} }\n`)
  .join('')}
`

interface Keys {
  keys: { key: string }[]
}

let gateway: TestGateway
let stage: PageStage
beforeAll(async () => {
  gateway = await startGateway({
    config,
    env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' },
  })
  stage = stageOf(gateway, 'docs/money/prices.md', tokenOf('acme'))
  const { keys } = (await (await fetch(`${gateway.url}/gateway/v1/keys`)).json()) as Keys
  stage.names.set('pBNV4sTA36yBj2_Tn3hLJvMTPapo2OgGOC8p6hPt4sw', keys[0]!.key)
  const calls = [...Array(40).fill('beta'), ...Array(12).fill('gamma')] as string[]
  for (const account of calls) await ask(account, 'txta-plus', 'Go on [[sim:tokens=500]]')
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const post = (account: string, path: string, body: object) =>
  gateway.post(path, body, { authorization: `Bearer ${tokenOf(account)}` })

/** Gives the request's id. */
async function ask(account: string, model: string, content: string): Promise<string> {
  const messages = [{ role: 'user', content }]
  const answer = await post(account, '/v1/chat/completions', { model, messages })
  expect({ account, status: answer.status }).toEqual({ account, status: 200 })
  await answer.text()
  return requestIdOf(answer)
}

const words = (count: number) => `${'word '.repeat(count)}[[sim:tokens=10]]`

/** What happened before the page explains it, by the id it has there. */
const scenes: Readonly<Record<string, () => Promise<string>>> = {
  req_01a1ddbcfb7c13a86ef24922d26c3a6a: () => ask('long', 'txta-vl-long', words(39_994)),
  async req_01a1ddbcfff950e88686f10f24304091() {
    await ask('long', 'txta-turbo', words(594))
    return ask('long', 'txta-turbo', words(594))
  },
  async req_01a1df8af59bb32ae3de99b19894dc7f() {
    const id = await ask('acme', 'txta-plus', 'Hello!')
    const film = { model: 'vfa-2.7-t2v', prompt: 'A boat', seconds: 4, size: '1280x720' }
    const { id: taskId } = (await (await post('acme', '/v1/videos', film)).json()) as { id: string }
    // Receipts come a little later than charges.
    for (const ref of [id, taskId]) {
      await until(`the receipt of ${ref}`, async () => {
        const { body } = await gateway.admin('GET', `/explain/${ref}`)
        return body.receipt ?? undefined
      })
    }
    return id
  },
}

async function playScenesOf({ text }: Example): Promise<void> {
  for (const [id] of text.matchAll(/req_[0-9a-f]{32}/g)) {
    if (!stage.names.has(id)) stage.names.set(id, await scenes[id]!())
  }
}

const moneyPages = ['charges', 'prices', 'audit'].map((name) => `docs/money/${name}.md`)

describe('what costs what', () => {
  test.each(
    moneyPages.flatMap((page) => examplesOf(page, 'run').map((example) => ({ page, ...example }))),
  )(
    '$page, line $line: the example runs and prints what it says',
    async ({ page: _, ...example }) => {
      await playScenesOf(example)
      await tryExample(stage, example)
    },
  )
})

describe('docs/run/backup.md', () => {
  const examples = examplesOf('docs/run/backup.md', 'run').filter(
    (example) => has.postgres || !needsPostgres(example),
  )
  const made: Place[] = []
  let backups: PageStage
  beforeAll(async () => {
    backups = stageOf(gateway, 'docs/run/backup.md')
    if (!has.postgres) return
    for (const name of ['empty', 'gateway']) {
      const place = await newPlace('postgres', { empty: true })
      made.push(place)
      backups.names.set(`postgres://user:password@host/${name}`, place.options.databaseUrl!)
    }
  })
  afterAll(async () => {
    for (const place of made) await place.remove()
  })

  test.each(examples)('line $line: the example runs', async (example) => {
    // Moving is for a gateway that does not run: for what was restored before.
    const isMove = example.text.includes('db copy')
    if (isMove)
      copyFileSync(join(gateway.dataDir, 'master.key'), join(backups.cwd, 'new-data/master.key'))
    await tryExample(
      isMove ? { ...backups, dataDir: join(backups.cwd, 'new-data') } : backups,
      example,
    )
  })

  if (has.postgres) {
    test('ends with a gateway that runs on the copy', async () => {
      const [example] = examplesOf('docs/run/backup.md', 'start')
      const dataDir = join(backups.cwd, 'new-data')
      const started = await startFence(
        { ...backups, dataDir, env: { ...backups.env, GATEWAY_PORT: '0' } },
        example!,
      )
      const ready = await fetch(`${started.url}/readyz`)
      expect(await started.stop()).toBe(0)
      expect(ready.status).toBe(200)
    })
  }
})
