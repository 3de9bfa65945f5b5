// gateway doctor: checks everything a gateway with these settings needs, and says how to fix each
// problem. Changes nothing, spends nothing, shows no secret.
import { parseArgs } from 'node:util'
import { type Config, environment } from '../../config/index.ts'
import { type TriedConfig, tryConfig } from '../../config/problems.ts'
import { createCleaner } from '../../lib/redact/index.ts'
import { allSecretsIn, keysThere } from '../../start/keys.ts'
import { type ClockReading, checkClock } from './clock.ts'
import { checkDatabase } from './database.ts'
import { type Finding, leftOut, ok, problem, reportText, warning } from './finding.ts'
import { checkDataDir, checkPort, checkRuntime, checkSecretFiles } from './machine.ts'
import { checkMail } from './mail.ts'
import { type Offer, readOffer } from './offer.ts'
import { reachAddress, reachChannels, reachRedis } from './reach.ts'
import { checkSettings } from './settings.ts'
import { checkSignIn } from './sign-in.ts'

const usage = `Usage: gateway doctor [FLAGS]

Looks at the settings, the data directory, the database, Redis, the clock, sign-in, the mail server,
every channel and the prices, and says what to do about what is not as it should be. Nothing is changed
and nothing spent.

Flags
  --json     print the findings as JSON and nothing else
  --offline  reach no channel, identity provider or mail server
  --help     show this

Exit codes
  0  nothing is wrong (there may be warnings)
  1  something must be put right
  2  wrong usage
`

const exitCodes = { well: 0, ill: 1, misused: 2 } as const

interface Inspected {
  findings: Finding[]
  /** To be redacted wherever they appear. */
  secrets: string[]
}

async function inspect(tried: TriedConfig, isOffline: boolean): Promise<Inspected> {
  const { config, problems } = tried
  const settings = checkSettings(tried, environment())
  const machine = [
    ...checkRuntime(),
    ...settings,
    ...checkDataDir(config),
    ...checkSecretFiles(config),
    ...(await checkPort(config)),
  ]
  const isWrong = (variable: string) => problems.some((each) => each.variable === variable)
  if (isWrong('GATEWAY_DATABASE_URL')) {
    const findings = [...machine, leftOut('database', 'its address is wrong')]
    return { findings, secrets: secretsOf(config) }
  }
  const startMs = Date.now()
  const database = await checkDatabase(config)
  try {
    const offer = await readOffer(config.file, database.usable, database.seal)
    const clocks: ClockReading[] = []
    if (database.nowMs !== undefined) {
      const roughMs = Date.now() - startMs
      const theirMs = database.nowMs
      clocks.push({ of: 'the database', theirMs, ourMs: startMs, roughMs, isReference: true })
    }
    const around = await inspectAll(config, offer, isOffline, clocks)
    return {
      findings: [
        ...machine,
        ...database.findings,
        ...around,
        checkClock(clocks),
        ...checkModels(offer),
      ],
      secrets: [...secretsOf(config), ...offer.channels.flatMap(({ keys }) => keys)],
    }
  } finally {
    await database.end()
  }
}

async function inspectAll(
  config: Config,
  offer: Offer,
  isOffline: boolean,
  clocks: ClockReading[],
): Promise<Finding[]> {
  const findings: Finding[] = []
  if (config.redisUrl !== undefined) {
    const redis = await reachRedis(config.redisUrl)
    findings.push(...redis.findings)
    clocks.push(...redis.clocks)
  }
  for (const name of offer.sealed) {
    findings.push(
      leftOut(`channel ${name}`, 'without the master key its own keys cannot be opened'),
    )
  }
  if (isOffline) return [...findings, leftOut('channels', 'as asked for with --offline')]
  const { s3 } = config.file.media ?? {}
  if (s3 !== undefined) findings.push(await reachAddress('kept results', s3.endpoint))
  if (config.traces !== undefined) findings.push(await reachAddress('traces', config.traces.url))
  findings.push(...(await checkSignIn(config, offer.accounts)), ...(await checkMail(config)))
  const reached = await reachChannels(
    offer.channels.filter(({ name }) => !offer.sealed.includes(name)),
    offer.models,
  )
  clocks.push(...reached.clocks)
  const none = ok('channels', 'none; the sandbox answers')
  const unserved = problem(
    'channels',
    'none, and the sandbox is off: no model can be called',
    'declare one in the configuration file, or add one with gateway channel create',
  )
  const without = config.sandbox === 'off' ? unserved : none
  return [...findings, ...(offer.channels.length === 0 ? [without] : reached.findings)]
}

function checkModels({
  unpriced,
  unknown,
  misfits,
  idle,
  strayTokens,
  channels,
}: Offer): Finding[] {
  const wrong = misfits.map(({ says }) =>
    problem('prices', says, 'a start is refused until it fits'),
  )
  if (wrong.length > 0) return wrong
  const stray = strayTokens.map(({ name, account }) =>
    problem(
      'tokens',
      `token '${name}' is of the account '${account}', which does not exist: a start is refused`,
      'declare the account, or correct the name',
    ),
  )
  const strangers = unknown.map(({ channel, model }) =>
    warning(
      'models',
      `channel ${channel} serves ${model}, and no model is called that`,
      'correct the name, or declare the model in the configuration file',
    ),
  )
  const before = [
    ...stray,
    ...strangers,
    ...idle.map(({ says, advice }) => warning('models', says, advice)),
  ]
  if (unpriced.length > 0) {
    const says = `no price for ${unpriced.join(', ')}: served by a channel, and refused to callers`
    const advice =
      'add prices to the configuration file, or with gateway price create or gateway price import'
    return [...before, warning('prices', says, advice)]
  }
  const says = channels.length === 0 ? 'those that ship' : 'every model that is served has one'
  return [...before, ok('prices', says)]
}

function secretsOf(config: Config): string[] {
  const { masterKey = new Uint8Array(), adminToken = '' } = keysThere(config)
  const keys = { masterKey, adminToken, adminTokenIsNew: false, masterKeyIsNew: false }
  return allSecretsIn(config, keys).filter((secret) => secret !== '')
}

async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: 'boolean', default: false },
      offline: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return exitCodes.well
  }
  const { findings, secrets } = await inspect(
    tryConfig(environment(), process.cwd()),
    values.offline,
  )
  const cleaner = createCleaner(secrets)
  const clean = findings.map((finding) => ({ ...finding, says: cleaner.cleanLine(finding.says) }))
  const isWell = clean.every(({ state }) => state !== 'problem')
  const json = `${JSON.stringify({ ok: isWell, findings: clean }, null, 2)}\n`
  process.stdout.write(values.json ? json : reportText(clean))
  return isWell ? exitCodes.well : exitCodes.ill
}

run(process.argv.slice(3)).then(
  (code) => {
    process.exitCode = code
  },
  (error: Error & { code?: string }) => {
    const isMisuse = error.code?.startsWith('ERR_PARSE_ARGS') === true
    process.stderr.write(`gateway: ${isMisuse ? error.message : (error.stack ?? error)}\n`)
    process.exitCode = isMisuse ? exitCodes.misused : exitCodes.ill
  },
)
