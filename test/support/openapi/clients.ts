// For tests of generated clients: the served documents as files, and programs that are run and looked at.
import { join } from 'node:path'
import { root } from '../gateway.ts'
import { ownEnv } from '../own-env.ts'

const limitMs = 60_000

/** The documents by the name of the client that is made of each. */
export const documents = { data: '/openapi.json', admin: '/openapi.admin.json' } as const

export async function saveDocuments(url: string, dir: string): Promise<void> {
  for (const [name, path] of Object.entries(documents)) {
    await Bun.write(join(dir, `${name}.json`), await fetch(`${url}${path}`))
  }
}

interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  timeoutMs?: number
}

export async function run(
  command: readonly string[],
  { cwd = root, env = {}, timeoutMs = limitMs }: RunOptions = {},
): Promise<{ code: number; said: string }> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...ownEnv, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: timeoutMs,
  })
  const [said, failed] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, said: said + failed }
}

/** What a program leaves that did its work and had nothing to say. */
export const done = { code: 0, said: '' }

/** What a program printed: an outcome for every call. */
export function outcomesIn({ code, said }: { code: number; said: string }): [string, unknown][] {
  if (code !== 0) throw new Error(said)
  return Object.entries(JSON.parse(said) as Record<string, unknown>)
}
