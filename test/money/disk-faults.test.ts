// Every operation of the disk fails once, in a process of its own: see simulation/disk/main.ts.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { root } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

test('no fault of a disk loses or doubles a charge, needs a restart, or prevents the next start', async () => {
  const args = process.env['TEST_DISK_FULL'] === undefined ? [] : ['--full']
  const child = Bun.spawn([process.execPath, join(root, 'simulation/disk/main.ts'), ...args], {
    stdout: 'pipe',
    stderr: 'inherit',
    env: ownEnv,
  })
  const text = await child.stdout.text()
  expect(text).toMatch(
    /^first day: \d+ operations, \d+ faults, 0 violations\nevery day: \d+ operations, \d+ faults, 0 violations\n$/,
  )
  expect(await child.exited).toBe(0)
}, 900_000)
