// Installs a coding tool from its registry at the version that the guide names: into TEST_TOOLS_CACHE,
// where the next run finds it, or into the temp directory of this run.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import type { Section } from './guide.ts'

const limitMs = 600_000

/** Gives the folder that its programs are in. */
export async function install(section: Section, needs: readonly string[] = []): Promise<string> {
  const { package: name, version, isPython } = section
  const cache = process.env['TEST_TOOLS_CACHE'] ?? tempDir()
  const folder = join(cache, `${name.replace(/^@/, '').replaceAll('/', '-')}@${version}`)
  const done = join(folder, 'installed')
  if (!existsSync(done)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    if (isPython) await installPython(folder, `${name}==${version}`)
    else await installNode(folder, [`${name}@${version}`, ...needs])
    writeFileSync(done, '')
  }
  return isPython ? join(folder, 'bin') : join(folder, 'node_modules/.bin')
}

async function installNode(folder: string, packages: readonly string[]): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  await run(folder, ['npm', 'install', '--no-audit', '--no-fund', ...packages])
}

async function installPython(folder: string, requirement: string): Promise<void> {
  const python = process.env['TEST_TOOLS_PYTHON'] ?? 'python3'
  await run(folder, [python, '-m', 'venv', folder])
  await run(folder, [join(folder, 'bin/pip'), 'install', '--only-binary', ':all:', requirement])
}

async function run(cwd: string, command: string[]): Promise<void> {
  const env = { ...process.env, ...ownEnv }
  const child = Bun.spawn(command, {
    ...{ cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    timeout: limitMs,
  })
  const said = await Promise.all(
    [child.stdout, child.stderr].map((each) => new Response(each).text()),
  )
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}:\n${said.join('')}`)
}
