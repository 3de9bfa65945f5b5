// Lists that are imported are read aside: whatever their shape, they hold up nobody else, and what is too
// large or too complex is refused.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const channels = (count: number, more = '') =>
  `channels:\n${Array.from(
    { length: count },
    (_, i) => `  - name: c${i}
    keys: [key-number-${i}]
    protocols: { chat: "https://up${i}.example/v1" }
    models: { txta-plus: "*", "vfa-*": "*" }
${more}`,
  ).join('')}`

const importers: readonly [string, (text: string) => Promise<{ status: number; body: unknown }>][] =
  [
    [
      '/channels/import',
      (yaml) => gateway.admin('POST', '/channels/import', { yaml, dry_run: true }),
    ],
    [
      '/prices/import',
      (text) => gateway.admin('POST', '/prices/import', { format: 'yaml', text, dry_run: true }),
    ],
    [
      '/prices/import as a body',
      async (text) => {
        const answer = await fetch(`${gateway.url}/admin/v1/prices/import?dry_run=true`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${adminToken}`,
            'content-type': 'application/yaml',
          },
          body: text,
        })
        return { status: answer.status, body: await answer.json() }
      },
    ],
  ]

const hostile: readonly [string, string, readonly number[]][] = [
  ['more than a megabyte', `# ${'x'.repeat(1_100_000)}`, [413]],
  ['empty maps', `[${'{},'.repeat(330_000)}]`, [400]],
  ['keys', Array.from({ length: 90_000 }, (_, i) => `k${i}: 1\n`).join(''), [400]],
  ['brackets in brackets', '['.repeat(500_000), [400]],
  ['a deep list', '- '.repeat(50_000), [400]],
  ['aliases of aliases', aliases(), [400]],
  ['wrong line after line', '}\n'.repeat(60_000), [400]],
]

function aliases(): string {
  const lines = ['a0: &a0 [x, x]']
  for (let i = 1; i < 30; i++) lines.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`)
  return lines.join('\n')
}

test.each(importers)('%s refuses what is too large or too complex', async (_, send) => {
  for (const [what, text, statuses] of hostile) {
    const { status } = await send(text)
    expect([what, statuses.includes(status), status]).toEqual([what, true, status])
  }
})

test('others are answered while a list is read', async () => {
  const order: string[] = []
  const [, send] = importers[0]!
  const text = channels(200, Array.from({ length: 25 }, () => '    # a remark\n').join(''))
  const done = send(text).then(({ status }) => {
    order.push(`import ${status}`)
  })
  await Bun.sleep(100)
  for (let i = 0; i < 5; i++) {
    await (await fetch(`${gateway.url}/healthz`)).text()
    order.push('alive')
  }
  await done
  expect(order).toEqual(['alive', 'alive', 'alive', 'alive', 'alive', 'import 200'])
})

test('several at once wait for each other, and ordinary lists still come in', async () => {
  const [, send] = importers[0]!
  const answers = await Promise.all(Array.from({ length: 12 }, () => send(channels(3))))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(4)
  expect(new Set(statuses.filter((status) => status !== 200)).size).toBeLessThanOrEqual(1)
  expect(statuses.every((status) => status === 200 || status === 503)).toBe(true)
  const { status, body } = await gateway.admin('POST', '/channels/import', { yaml: channels(2) })
  expect([status, body.saved, body.channels.length]).toEqual([200, true, 2])
})
