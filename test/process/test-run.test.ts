// scripts/test itself, over made-up test files that misbehave: a run leaves no folder and no process
// behind, however it ends, and says which job left one.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processesOf } from '../../scripts/testing/leftovers.ts'
import { root, tempDir } from '../support/gateway.ts'
import { until } from '../support/read.ts'

/** A folder with one test file, and an empty temp directory for the run. */
function stage(body: string): { temp: string; file: string; notes: string } {
  const folder = tempDir()
  const temp = join(folder, 'temp')
  mkdirSync(temp)
  const file = join(folder, 'made-up.test.ts')
  const notes = join(folder, 'notes')
  writeFileSync(file, body.replaceAll('NOTES', JSON.stringify(notes)))
  return { temp, file, notes }
}

const run = ({ temp, file }: { temp: string; file: string }) =>
  Bun.spawn([join(root, 'scripts/test'), file], {
    cwd: root,
    env: { ...process.env, TMPDIR: temp },
    stdout: 'pipe',
    stderr: 'inherit',
  })

const header = `
import { test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
`

/** Outlives its parent: a session of its own, started by a shell that is gone. */
const daemon = `Bun.spawnSync(['sh', '-c', 'setsid sleep 600 >/dev/null 2>&1 &'])`

test('removes the folders of the tests, and takes a process that outlives them for a failure', async () => {
  const place = stage(`${header}
      test('leaves a folder', () => {
        writeFileSync(join(mkdtempSync(join(tmpdir(), 'gateway-test-')), 'file'), 'text')
      })
      test('leaves a process', () => { ${daemon} })
    `)
  const child = run(place)
  const text = await new Response(child.stdout).text()
  expect(text).toContain('left a process behind: the files named:')
  expect(text).toContain('sleep 600')
  expect(text).toEndWith('2 passed, 1 failed\n')
  expect(await child.exited).toBe(1)
  expect(readdirSync(place.temp)).toEqual([])
  expect(processesOf(place.temp)).toEqual([])
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'leaves nothing behind after %s',
  async (signal) => {
    const place = stage(`${header}
      test('hangs', async () => {
        ${daemon}
        writeFileSync(NOTES, mkdtempSync(join(tmpdir(), 'gateway-test-')))
        await new Promise(() => {})
      })
    `)
    const child = run(place)
    await until('the hanging test', () => existsSync(place.notes) || undefined)
    expect(readFileSync(place.notes, 'utf8')).toStartWith(place.temp)
    child.kill(signal)
    const text = await new Response(child.stdout).text()
    expect(text).toMatch(
      new RegExp(`failed: stopped by ${signal} while these ran: \\S*made-up\\.test\\.ts`),
    )
    expect(await child.exited).toBeGreaterThan(128)
    expect(readdirSync(place.temp)).toEqual([])
    expect(processesOf(place.temp)).toEqual([])
  },
)

test('removes what a killed run has left', async () => {
  const hanging = stage(`${header}
      test('hangs', async () => {
        writeFileSync(NOTES, tmpdir())
        await new Promise(() => {})
      })
    `)
  const child = run(hanging)
  await until('the hanging test', () => existsSync(hanging.notes) || undefined)
  child.kill('SIGKILL')
  await child.exited
  expect(readdirSync(hanging.temp)).toHaveLength(1)
  const next = stage(`${header} test('passes', () => {})`)
  expect(await run({ ...next, temp: hanging.temp }).exited).toBe(0)
  expect(readdirSync(hanging.temp)).toEqual([])
  expect(processesOf(hanging.temp)).toEqual([])
})
