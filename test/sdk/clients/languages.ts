// The languages whose SDKs are tried: whether they are here, and how their program is made and run.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../../support/gateway.ts'
import type { Wire } from '../../support/one-wire.ts'
import { python } from '../../support/python.ts'

interface Language {
  name: string
  /** In the ids of its cases. */
  short: string
  styles: readonly Wire[]
  isPossible(): boolean
  /** Its types for chat hold fields that they do not know, such as the seal of a call. */
  keepsUnknown: boolean
  /** How to have it. */
  how: string
  /** The command to which the file with the cases is added. */
  build(dir: string): Promise<readonly string[]>
}

/** Where Go keeps modules and what it compiled. It fetches nothing and does not optimise. */
const goEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      /^(?:HOME|PATH|XDG_CACHE_HOME|GO[A-Z]+)$/.test(name) ? [[name, value ?? '']] : [],
    ),
  ),
  GOFLAGS: `-mod=readonly -buildvcs=false -trimpath -ldflags=-w '-gcflags=all=-N -l'`,
  ...{ GOPROXY: 'off', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
}

const hasModules = (): boolean =>
  Bun.spawnSync(['go', 'list', '-deps', '.'], { cwd: import.meta.dir, env: goEnv }).success

/** The files of the SDKs, which scripts/services fetches. */
const javaSdks = process.env['TEST_JAVA_SDKS']
/** For short runs: they do not earn back what the second compiler and further threads cost. */
const javaFlags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

const all: readonly Wire[] = ['chat', 'responses', 'messages', 'generate']

export const languages: readonly Language[] = [
  {
    name: 'the SDKs for Python',
    short: 'python',
    keepsUnknown: true,
    styles: all,
    isPossible: () => ['openai', 'anthropic', 'google.genai'].every((name) => python.has(name)),
    how: 'scripts/services install',
    build: async (dir) => [python.program, `${dir}/client.py`],
  },
  {
    name: 'the SDKs for Go',
    short: 'go',
    keepsUnknown: false,
    styles: all,
    isPossible: () => Bun.which('go') !== null && hasModules(),
    how: 'install Go, then scripts/services install',
    async build(dir) {
      const home = tempDir()
      for (const name of ['go.mod', 'go.sum', 'main.go']) cpSync(join(dir, name), join(home, name))
      const built = Bun.spawnSync(['go', 'build', '-o', 'client', '.'], { cwd: home, env: goEnv })
      if (!built.success) throw new Error(built.stderr.toString())
      return [join(home, 'client')]
    },
  },
  {
    name: 'the SDKs for Java',
    short: 'java',
    keepsUnknown: true,
    styles: ['chat', 'responses', 'messages'],
    isPossible: () => javaSdks !== undefined && Bun.which('javac') !== null,
    how: 'install Maven and a JDK, then scripts/services install',
    async build(dir) {
      const home = tempDir()
      const files = [...new Bun.Glob('*.java').scanSync({ cwd: join(dir, 'java'), absolute: true })]
      const classes = `${home}:${javaSdks}/*`
      const flags = javaFlags.map((flag) => `-J${flag}`)
      const built = Bun.spawnSync(['javac', ...flags, '-d', home, '-cp', classes, ...files])
      if (!built.success) throw new Error(built.stderr.toString())
      return ['java', ...javaFlags, '-cp', classes, 'Client']
    },
  },
]
