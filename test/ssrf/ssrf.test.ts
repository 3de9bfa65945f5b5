// Nobody makes the gateway ask an address it may not ask: every input that takes an address, in every
// spelling and by every way, inside a network namespace where each address there is has ears.
import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import type { Findings } from './inside.ts'
import { allSpellings } from './spellings.ts'

const isFull = process.env['TEST_SSRF_FULL'] === '1'
const ofEachGroup = isFull ? 5 : 1
const maxMs = isFull ? 600_000 : 150_000

/** Every address is this machine, and the only resolver is the test's own. */
const enter = (then: string) => `ip link set lo up &&
ip route add local default dev lo &&
ip -6 route add local default dev lo &&
mount --bind "$1" /etc/resolv.conf &&
${then}`

function inNamespace(then: string, ...more: string[]) {
  const resolvConf = join(tempDir(), 'resolv.conf')
  writeFileSync(resolvConf, 'nameserver 127.0.0.1\n')
  const command = ['unshare', '-n', '-r', '-m', 'sh', '-c', enter(then), 'sh', resolvConf, ...more]
  const env = { ...ownEnv }
  return Bun.spawn(command, { cwd: root, env, stdout: 'pipe', stderr: 'pipe' })
}

async function canEnter(): Promise<boolean> {
  try {
    return (await inNamespace('true').exited) === 0
  } catch {
    return false
  }
}

const isPossible = await canEnter()
if (!isPossible) {
  console.error(
    'left out: SSRF cases (need `unshare -n -r -m` and `ip`, as on Linux with namespaces)',
  )
} else if (!isFull) {
  console.error('left out: SSRF cases over HTTP, 4 of 5 spellings of a kind (TEST_SSRF_FULL=1)')
}

test('there are at least 300 spellings, and no two are the same', () => {
  const urls = allSpellings().map(({ url }) => url)
  expect(urls.length).toBeGreaterThanOrEqual(300)
  expect(new Set(urls).size).toBe(urls.length)
})

const cases = () => {
  let findings: Findings

  beforeAll(async () => {
    const inside = join(import.meta.dir, 'inside.ts')
    const run = inNamespace('exec "$2" "$3" "$4"', process.execPath, inside, String(ofEachGroup))
    const [printed, complaints] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ])
    if ((await run.exited) !== 0) throw new Error(complaints)
    findings = JSON.parse(printed) as Findings
  }, maxMs)

  test('whoever asks without a guard is heard, by most spellings and by rebinding', () => {
    expect(findings.unguarded).toBeGreaterThanOrEqual(300)
    expect(findings.unguardedRebinding).toBe(1)
  })

  test('nobody is heard where nobody may be, whatever the gateway is given', () => {
    expect(findings.arrived).toEqual([])
    expect(findings.strayed).toEqual([])
  })

  test('no connection is so much as tried, on any port, but to what is allowed', () => {
    expect(findings.allowed).toBeGreaterThan(findings.spellings)
    expect(findings.opened).toBe(findings.allowed)
  })

  test('every attempt ends as it must, and the allowed address works at every input', () => {
    expect(findings.tallies.map(({ input }) => input)).toEqual([
      'download',
      'picture',
      'message',
      'result of a video, downloaded',
      'result of a video, kept',
      'result of an image task, kept',
      'result of an image, as Base64',
      'result of an image, by its link',
      'picture of a caller, fetched for an upstream',
      'callback of an image task',
      'callback of a native task',
    ])
    for (const { input, hops, surprises } of findings.tallies) {
      expect([input, surprises]).toEqual([input, []])
      expect([input, hops['control']]).toEqual([input, { refused: 0, allowed: 2 }])
      expect(hops['direct']?.allowed).toBe(0)
      expect(hops['rebinding']?.allowed).toBeGreaterThan(0)
    }
  })

  test('a public address works without being allowed', () => {
    expect(findings.publicly).toEqual(['allowed', 'allowed', 'allowed'])
  })
}

if (isPossible) describe('in a namespace where every address has ears', cases)
