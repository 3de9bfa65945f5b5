// Receipts over real HTTP: what the gateway gives out is valid by its published key, and anything
// that was done to it is found, by a command that asks nobody.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyReceipt } from '../../src/cli/calls/verify-bill.ts'
import { billColumns } from '../../src/contract/bills/bill-line.ts'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'

const command = join(import.meta.dir, '../../src/cli/main.ts')

let gateway: TestGateway
let directory: string
let requestId: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-receipts-'))
  gateway = await startGateway({})
  for (const words of ['one', 'two', 'three']) {
    const answer = await gateway.chat(`${words} [[sim:tokens=40]]`)
    requestId = answer.headers.get('x-request-id')!
    await answer.text()
  }
})
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  expect(await gateway.stop()).toBe(0)
})

async function verify(text: string, ...more: string[]) {
  const file = join(directory, 'file')
  writeFileSync(file, text)
  // Nothing of a gateway is within its reach.
  const run = Bun.spawn([process.execPath, command, 'verify', file, ...more], {
    env: { GATEWAY_URL: 'http://127.0.0.1:1' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return { stdout: await run.stdout.text(), exitCode: await run.exited }
}

const publicKeys = async () =>
  (await (await fetch(`${gateway.url}/gateway/v1/keys`)).json()) as {
    keys: { key: string; algorithm: string; current: boolean; pem: string }[]
  }

const table = async () => {
  const response = await fetch(`${gateway.url}/admin/v1/bills?account=acme&format=csv`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  return response.text()
}

test('the public key is there for anybody', async () => {
  const { keys } = await publicKeys()
  expect(keys).toEqual([
    {
      key: expect.stringMatching(/^[\w-]{43}$/),
      algorithm: 'Ed25519',
      current: true,
      pem: expect.stringContaining('BEGIN PUBLIC KEY'),
    },
  ])
})

test('a bill that was just charged for is complete, signed and valid', async () => {
  const { keys } = await publicKeys()
  const text = await table()
  expect(text.trim().split('\r\n')).toHaveLength(5)
  const { stdout, exitCode } = await verify(text, '--key', keys[0]!.key)
  expect(stdout).toContain('is valid')
  expect(stdout).toMatch(/lines +4, receipts 1 to 4/)
  expect(exitCode).toBe(0)
})

test('a changed amount is found, and the line is named', async () => {
  const text = await table()
  const changed = text.replace(/,token,(\d+),-0/, ',token,$1,-1')
  expect(changed).not.toBe(text)
  const { stdout, exitCode } = await verify(changed)
  expect(stdout).toContain('is NOT valid. line 3: ')
  expect(exitCode).toBe(1)
})

test('one receipt proves itself, and nothing else', async () => {
  const { body } = await gateway.admin('GET', `/explain/${requestId}`)
  expect(body.receipt).toMatchObject({ number: 4, problem: null, ref: requestId, kind: 'charge' })
  expect(body).toMatchObject({ rounding: expect.stringContaining('half up') })
  expect(body.normalisation).toHaveLength(1)
  const whole = await verify(JSON.stringify(body))
  expect([whole.exitCode, whole.stdout]).toEqual([0, expect.stringContaining('is valid')])
  const alone = await verify(JSON.stringify(body.receipt))
  expect(alone.exitCode).toBe(0)
  for (const [field, value] of Object.entries(body.receipt as Record<string, unknown>)) {
    // Said about it, not by it.
    if (field === 'sealed_by' || field === 'problem') continue
    const altered: Record<string, unknown> = { ...body.receipt, [field]: `${value ?? ''}1` }
    const cells = billColumns.map((column) => String(altered[column] ?? ''))
    expect([field, typeof verifyReceipt(cells)]).toEqual([field, 'string'])
  }
})

test('what cannot be a bill or a receipt is told as such', async () => {
  expect(await verify('')).toMatchObject({ exitCode: 1 })
  expect(await verify('{"a":1}')).toMatchObject({ exitCode: 1 })
  expect((await verify('a,b\r\n1,2\r\n')).stdout).toContain('line 1: it is not the head')
  const run = Bun.spawn([process.execPath, command, 'verify', join(directory, 'nothing')], {
    stderr: 'pipe',
  })
  expect(await run.exited).toBe(2)
})
