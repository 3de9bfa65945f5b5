// Operations of the disk fail, one in each run, in a process of its own: see simulation/disk/main.ts.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { root, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

const caseLimitMs = 3_600_000
const isFull = process.env['TEST_DISK_FULL'] !== undefined
/** All calls of SQLite would take hours. */
const maxCalls = '60'

async function run(library?: string): Promise<{ code: number; text: string }> {
  const full = library === undefined ? ['--full'] : ['--max', maxCalls]
  const calls = library === undefined ? [] : ['--calls', library]
  const args = isFull ? [...full, ...calls] : calls
  const command = [process.execPath, join(root, 'simulation/disk/main.ts'), ...args]
  const child = Bun.spawn(command, {
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...ownEnv, ...(library !== undefined && { LD_PRELOAD: library }) },
  })
  const text = await child.stdout.text()
  return { code: await child.exited, text }
}

test(
  'no fault of a disk loses or doubles a charge, needs a restart, or prevents the next start',
  async () => {
    const { code, text } = await run()
    expect(text.replaceAll(/\d+/g, 'n').split('\n')).toEqual([
      'first day: n operations, n faults, n violations',
      'every day: n operations, n faults, n violations',
      'power cuts: n, n violations',
      '',
    ])
    expect(code).toBe(0)
  },
  caseLimitMs,
)

const compiler = ['cc', 'gcc', 'clang'].find((name) => Bun.which(name) !== null)
if (compiler === undefined || process.platform !== 'linux') {
  console.error('left out: faults inside SQLite (install a C compiler, on Linux)')
} else {
  test(
    'nor does a fault of a call that SQLite makes',
    async () => {
      const library = join(tempDir(), 'failing-calls.so')
      const source = join(root, 'simulation/disk/failing-calls.c')
      const built = Bun.spawnSync([compiler, '-shared', '-fPIC', '-o', library, source, '-ldl'])
      expect([built.exitCode, built.stderr.toString()]).toEqual([0, ''])
      const { code, text } = await run(library)
      expect(text).toMatch(/^calls of SQLite: \d+, \d+ faults, 0 violations\n$/)
      expect(code).toBe(0)
    },
    caseLimitMs,
  )
}
