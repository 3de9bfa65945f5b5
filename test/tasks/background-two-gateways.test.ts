// Background responses of two gateways on one database: each is made and charged once, and what one gateway has
// begun the other shows, cancels, deletes and, when the first is killed, goes on with.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Sandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { readAccount } from '../support/books.ts'
import type { TestGateway } from '../support/gateway.ts'
import { readTaskLedger } from '../support/task-books.ts'
import {
  ask,
  backgroundSandbox,
  create,
  ended,
  startBackground,
} from '../support/tasks/background.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64')

if (!storeKinds.includes('postgres')) {
  console.error('left out: background responses of two gateways (set TEST_POSTGRES_URL)')
} else {
  describe('background responses of two gateways', () => {
    let sandbox: Sandbox
    let place: Place
    let gateways: [TestGateway, TestGateway]
    const start = () => startBackground(sandbox, place, { GATEWAY_MASTER_KEY: masterKey })

    beforeAll(async () => {
      sandbox = backgroundSandbox()
      place = await newPlace('postgres')
      gateways = [await start(), await start()]
    })
    afterAll(async () => {
      for (const gateway of gateways) await gateway.stop('SIGKILL')
      await sandbox.stop()
      await place.remove()
    })

    const chargesOf = async (id: string) =>
      (await readTaskLedger(gateways[1])).filter(
        (entry) => entry.task_id === id && entry.kind === 'charge',
      )

    test('are answered by either, and charged once', async () => {
      const models = ['over-chat', 'over-responses', 'over-plain', 'over-chat']
      const made = await Promise.all(
        models.map((model, n) => create(gateways[n % 2]!, model, `hi ${n}`)),
      )
      expect(made.map(({ body }) => body.status)).toEqual(Array(4).fill('queued'))
      for (const [n, { body }] of made.entries()) {
        const shown = await Promise.all(gateways.map((gateway) => ended(gateway, body.id)))
        expect(shown.map((answer) => answer.body.status)).toEqual(['completed', 'completed'])
        expect(shown[0]!.body.output).toEqual(shown[1]!.body.output)
        expect([n, await chargesOf(body.id)]).toMatchObject([n, [{ kind: 'charge' }]])
      }
      expect((await readAccount(gateways[0])).held).toBe('0.00')
    })

    test('are cancelled and deleted by the other', async () => {
      const { body } = await create(gateways[0], 'over-chat', 'slow [[sim:delay=20s]]')
      const cancelled = await ask(gateways[1], 'POST', `/${body.id}/cancel`)
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
      expect((await ended(gateways[0], body.id)).body.status).toBe('cancelled')
      expect((await ask(gateways[1], 'DELETE', `/${body.id}`)).status).toBe(200)
      expect((await ask(gateways[0], 'GET', `/${body.id}`)).status).toBe(404)
      expect(await chargesOf(body.id)).toEqual([])
    })

    test('of one that is killed are made by the other, or end free of charge', async () => {
      const made = await Promise.all(
        ['over-responses', 'over-chat'].map((model) =>
          create(gateways[0], model, 'a moment [[sim:delay=1s]]'),
        ),
      )
      await gateways[0].stop('SIGKILL')
      for (const { body } of made) {
        const { body: shown } = await ended(gateways[1], body.id)
        const charges = await chargesOf(body.id)
        expect([shown.status, charges.length]).toEqual(
          shown.status === 'completed' ? ['completed', 1] : ['failed', 0],
        )
      }
      gateways[0] = await start()
      expect((await readAccount(gateways[1])).held).toBe('0.00')
      expect((await gateways[1].admin('POST', '/audit')).body).toMatchObject({ ok: true })
    })
  })
}
