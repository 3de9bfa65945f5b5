// The same in Go, where `go` and the modules of test/api/openapi-client are there: compiles the generator,
// generates a client from each document, compiles a program with them, and has it ask every interface.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  adminToken,
  apiToken,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { documents, done, outcomesIn, run, saveDocuments } from '../support/openapi/clients.ts'

/** Compiling is slow where Go has compiled nothing before. */
const limitMs = 600_000
const program = join(root, 'test/api/openapi-client')
const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'
const runtime = 'github.com/oapi-codegen/runtime'

/** Where Go keeps modules and what it compiled. It fetches nothing, takes one core, and does not optimise. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      /^(?:HOME|XDG_CACHE_HOME|GO[A-Z]+)$/.test(name) ? [[name, value ?? '']] : [],
    ),
  ),
  GOFLAGS: `-mod=readonly -buildvcs=false -trimpath -ldflags=-w '-gcflags=all=-N -l'`,
  ...{ GOPROXY: 'off', GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOGC: 'off', GOMAXPROCS: '1' },
}

const go = (cwd: string, ...words: string[]) =>
  run(['go', ...words], { cwd, env, timeoutMs: limitMs })

const isPossible =
  Bun.which('go') !== null && (await go(program, 'list', '-deps', generator, runtime)).code === 0

if (isPossible) {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
  })

  test(
    'a client in Go compiles, and a program with it asks every interface',
    async () => {
      const home = tempDir()
      for (const name of ['go.mod', 'go.sum', 'client.go']) {
        cpSync(join(program, name), join(home, name))
      }
      expect(await go(home, 'build', '-o', 'generate', generator)).toEqual(done)
      await saveDocuments(gateway.url, home)
      for (const name of Object.keys(documents)) {
        mkdirSync(join(home, name))
        const words = ['-package', name, '-generate', 'types,client', '-o', `${name}/${name}.go`]
        expect(await run(['./generate', ...words, `${name}.json`], { cwd: home })).toEqual(done)
      }
      expect(await go(home, 'build', '-o', 'client', '.')).toEqual(done)
      const place = [gateway.url, apiToken, adminToken]
      const outcomes = outcomesIn(
        await run(['./client', ...place], { cwd: home, timeoutMs: limitMs }),
      )
      expect(outcomes.filter(([, status]) => status !== 200 && status !== 201)).toEqual([])
      expect(outcomes.length).toBeGreaterThan(25)
    },
    limitMs,
  )
} else console.error('left out: a client in Go (install Go, then scripts/services install)')
