// docs/upgrade.md: what a release leaves behind for later tests is made as the page says, from a clone
// in which this version counts as released.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresUrl, storeKinds } from '../../src/store/test-stores.ts'
import { examplesIn, runFence } from '../support/docs/fences.ts'
import { fencesOf } from '../support/docs/pages.ts'
import { root, tempDir } from '../support/gateway.ts'

const canMake =
  storeKinds.includes('postgres') && Bun.which('pg_dump') !== null && existsSync(join(root, '.git'))

function git(cwd: string, ...words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['git', ...words], { cwd })
  expect({ words, exitCode, said: String(stderr) }).toMatchObject({ exitCode: 0 })
}

if (canMake) {
  test('the database of a release is made as docs/upgrade.md says', async () => {
    const clone = join(tempDir(), 'clone')
    git(root, 'clone', '--quiet', '--shared', root, clone)
    git(clone, 'tag', 'v0.2.0')
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    // PostgreSQL runs already.
    const started = `echo "export TEST_POSTGRES_URL='${postgresUrl}'"`
    writeFileSync(join(clone, 'scripts/services'), `#!/bin/sh\n${started}\n`)
    const [example] = examplesIn(fencesOf('docs/upgrade.md'), ['run'])
    const names = new Map([['/tmp/released', join(tempDir(), 'released')]])
    const stage = { url: '', token: '', dataDir: '', cwd: clone, names, lastIds: new Map() }
    expect(await runFence(stage, example!)).toMatchObject({ code: 0 })
    for (const engine of ['sqlite', 'postgres']) {
      const dump = readFileSync(join(clone, `test/fixtures/0.2.0/${engine}.sql`), 'utf8')
      expect(dump).toMatch(/CREATE TABLE \S*entries/)
      expect(dump).toContain('invoice 17')
    }
  })
} else {
  console.error(
    'left out: the database of a release (set TEST_POSTGRES_URL; needs pg_dump and git)',
  )
}
