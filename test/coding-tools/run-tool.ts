// Runs a coding tool as the guide says, in a project and a home directory of its own. It can reach
// nothing but the gateway: any other address is behind a proxy that is not there.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcessesOf } from '../../scripts/testing/leftovers.ts'
import { tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { type Here, linesOf, type Section } from './guide.ts'
import { type CodingTool, work } from './tools.ts'

const limitMs = 170_000
const noProxy = 'http://127.0.0.1:9'

export interface Project {
  folder: string
  home: string
}

export function newProject(): Project {
  const home = tempDir()
  const folder = join(home, 'project')
  mkdirSync(folder)
  writeFileSync(join(folder, work.file), work.before)
  return { folder, home }
}

const offline = {
  HTTP_PROXY: noProxy,
  HTTPS_PROXY: noProxy,
  http_proxy: noProxy,
  https_proxy: noProxy,
  NO_PROXY: 'localhost,127.0.0.1',
  no_proxy: 'localhost,127.0.0.1',
}

export interface Ran {
  code: number
  output: string
  errors: string
}

export async function runTool(
  { env }: CodingTool,
  section: Section,
  { folder, home }: Project,
  here: Here & { token: string; programs: string },
): Promise<Ran> {
  const child = Bun.spawn(['sh', '-eu', '-c', linesOf(section, here)], {
    cwd: folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: limitMs,
    env: {
      ...offline,
      ...env,
      PATH: `${here.programs}:${ownEnv['PATH']}`,
      HOME: home,
      TMPDIR: home,
      LANG: 'C.UTF-8',
      GATEWAY_TOKEN: here.token,
    },
  })
  const [output = '', errors = ''] = await Promise.all(
    [child.stdout, child.stderr].map((each) => new Response(each).text()),
  )
  const code = await child.exited
  // Some leave a helper running for the next time.
  await endProcessesOf(home)
  return { code, output, errors }
}
