// The command `gateway demo`: a gateway of a company that does not exist, with eight weeks of history, over the
// sandbox. Makes a directory for it and removes it at the end.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { startSandbox } from '../../sandbox/server.ts'
import { type Config, loadConfig } from '../config/index.ts'
import { removeAddress, writeAddress } from '../lib/address-file.ts'
import { newSecret } from '../lib/crypto/ids.ts'
import { repeatedFlag } from '../lib/repeated-flag.ts'
import { createLog } from '../lib/telemetry/log.ts'
import { isRefusedStart, type Served, serve } from '../start/serve.ts'
import { handleSignals, stopIsKept } from '../start/signals.ts'
import { people } from './company.ts'
import { historyStartMs, type Secrets, writeHistory } from './history.ts'
import { runTraffic } from './live.ts'
import { demoFile } from './offer.ts'
import { seededRandom } from './random.ts'
import { openWorld } from './world.ts'

/** EX_CONFIG: a setting is wrong and trying again will not help. */
const wrongSetting = 78

const usage = `Usage: gateway demo [FLAGS]

Runs a gateway with the history of a company that does not exist: customers, prices, eight weeks of calls,
bills. Customers go on calling; the sandbox answers. Prints how to sign in; Ctrl-C ends it and removes it.

Flags
  --port PORT  where it listens, on this machine only; 8080 if left out, 0 takes a free one
  --seed N     another history; 1 if left out
  --keep DIR   keep everything in this directory; if a demo is there, go on with it
  --help       show this
`

const flags = {
  port: { type: 'string', default: '8080' },
  seed: { type: 'string', default: '1' },
  keep: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

interface Options {
  port: string
  seed: number
  keep: string | undefined
}

function giveUp(why: string): never {
  process.stderr.write(`gateway: ${why}\n`)
  process.exit(wrongSetting)
}

function readOptions(args: string[]): Options {
  try {
    const { values, tokens } = parseArgs({ args, options: flags, tokens: true })
    const repeated = repeatedFlag(tokens, flags)
    if (repeated !== undefined) giveUp(`--${repeated} is given twice, and it takes one value.`)
    if (values.help === true) {
      process.stdout.write(usage)
      process.exit(0)
    }
    const { port, seed, keep } = values
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
      giveUp(`--port must be a number from 0 to 65535, not '${port}'.`)
    }
    if (!/^\d{1,9}$/.test(seed)) giveUp(`--seed must be a whole number, not '${seed}'.`)
    if (keep === '') giveUp('--keep needs a directory.')
    return { port, seed: Number(seed), keep: keep === undefined ? undefined : resolve(keep) }
  } catch (error) {
    return giveUp((error as Error).message.split('\n')[0]!)
  }
}

/** Beside the data: the history is whole, and what its secrets are made of. */
const noteName = 'demo.json'

interface Place {
  dir: string
  isKept: boolean
  /** Of a history that is there already. */
  note?: Note
}

interface Note {
  seed: number
  secret: string
}

async function placeFor({ keep }: Options): Promise<Place> {
  if (keep === undefined) {
    return { dir: mkdtempSync(join(tmpdir(), 'gateway-demo-')), isKept: false }
  }
  mkdirSync(keep, { recursive: true, mode: 0o700 })
  const note = join(keep, noteName)
  if (existsSync(note)) return { dir: keep, isKept: true, note: await Bun.file(note).json() }
  if (readdirSync(keep).length > 0) {
    giveUp(`--keep: ${keep} is not empty and holds no whole demo; name another directory.`)
  }
  return { dir: keep, isKept: true }
}

function secretsOf(secret: string): Secrets {
  const hash = (text: string) => createHash('sha256').update(`${secret} ${text}`).digest('hex')
  return {
    password: `demo-${hash('password').slice(0, 12)}`,
    tokenOf: (account, token) => `sk-${hash(`${account} ${token}`).slice(0, 43)}`,
  }
}

/** Nothing of the environment: a demonstration touches no real gateway and is not seen from elsewhere. */
function configFor(dir: string, port: string): Config {
  return loadConfig(
    {
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: port,
      GATEWAY_DATA_DIR: dir,
      GATEWAY_CONFIG: join(dir, 'gateway.yaml'),
      GATEWAY_SANDBOX: 'off',
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
      GATEWAY_LOG: 'error',
    },
    dir,
  )
}

const print = (text: string): void => void process.stdout.write(text)

function signInText({ port }: Served, { password }: Secrets, { dir, isKept }: Place): string {
  const base = `http://localhost:${port}`
  const rows = people.map(({ name, role, ...of }) => {
    const who = 'account' in of ? `customer (${of.account})` : role
    return `    ${name.padEnd(10)}${who}`
  })
  return [
    '',
    '  Model Gateway, with the data of a company that does not exist',
    '',
    `  Console      ${base}/console/`,
    `  API          ${base}/v1`,
    `  Password     ${password}   for each of`,
    ...rows,
    '',
    `  Data         ${dir}${isKept ? '' : ', removed at the end'}`,
    '  Stop         Ctrl-C',
    '',
    `ready ${base}\n`,
  ].join('\n')
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(3))
  const place = await placeFor(options)
  const { dir } = place
  const remove = () => place.isKept || rmSync(dir, { recursive: true, force: true })
  process.on('exit', remove)
  const { seed, secret } = place.note ?? { seed: options.seed, secret: newSecret('') }
  const key = newSecret('upk-')
  const sandbox = startSandbox({ key, taskSeconds: 20 })
  const file = stringify(demoFile(sandbox.protocols, key))
  writeFileSync(join(dir, 'gateway.yaml'), file, { mode: 0o600 })
  const config = configFor(dir, options.port)
  const secrets = secretsOf(secret)
  if (place.note === undefined) {
    print('writing eight weeks of history …\n')
    await writeAll(config, { seed, secret }, secrets, sandbox.url)
  }
  if (stopIsKept()) process.exit(0)
  const served = await serve(config)
  const url = `http://localhost:${served.port}`
  writeAddress(dir, url)
  print(signInText(served, secrets, place))
  const ending = new AbortController()
  const random = seededRandom(seed + Math.floor(Date.now() / 1_000))
  const traffic = runTraffic({ url, random, secrets, signal: ending.signal })
  let stops = 0
  handleSignals((signal) => {
    if (signal === 'SIGHUP') return
    if (++stops > 1) process.exit(0)
    ending.abort()
    removeAddress(dir, url)
    void traffic
      .then(() => served.drain())
      .then(() => sandbox.stop())
      .then(() => process.exit(0))
  })
}

async function writeAll(
  config: Config,
  note: Note,
  secrets: Secrets,
  mediaOrigin: string,
): Promise<void> {
  const log = createLog({
    level: 'error',
    pretty: true,
    write: (line) => process.stderr.write(line),
  })
  const endMs = Date.now()
  const random = seededRandom(note.seed)
  const world = await openWorld(config, log, { ms: historyStartMs(endMs), random, mediaOrigin })
  try {
    await writeHistory(world, endMs, secrets)
  } finally {
    await world.close()
  }
  writeFileSync(join(config.dataDir, noteName), JSON.stringify(note), { mode: 0o600 })
}

main().catch((error) => {
  if (stopIsKept()) process.exit(0)
  const expected = isRefusedStart(error)
  process.stderr.write(`gateway: ${expected ? error.message : (error.stack ?? error)}\n`)
  process.exit(expected ? wrongSetting : 1)
})
