// The doctor's check of the environment and gateway.yaml: every wrong value with its position, and
// settings that are valid but rarely intended.
import { statSync } from 'node:fs'
import { type Environment, problemLine } from '../../config/file.ts'
import { type Config, unknownVariables } from '../../config/index.ts'
import type { TriedConfig } from '../../config/problems.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const otherReaders = 0o044

export function checkSettings(tried: TriedConfig, env: Environment): Finding[] {
  const { config, problems, file } = tried
  const wrong = problems.map(({ message }) =>
    problem(
      'environment',
      message,
      'correct or remove the variable; docs/run/configuration.md lists what each takes',
    ),
  )
  const unknown = unknownVariables(env).map((sentence) =>
    warning('environment', sentence, 'rename or remove it'),
  )
  const isFileMissing = problems.some(({ variable }) => variable === 'GATEWAY_CONFIG')
  const well = ok('environment', 'every setting is understood')
  return [
    ...(wrong.length + unknown.length === 0 ? [well] : [...wrong, ...unknown]),
    ...(isFileMissing ? [] : checkFile(file)),
    ...checkSandbox(config),
    ...checkCluster(config),
  ]
}

function checkFile(file: TriedConfig['file']): Finding[] {
  if (file === undefined) {
    return [ok('configuration file', 'none; channels and tokens come from the admin API alone')]
  }
  const wrong = file.problems.map((each) =>
    problem('configuration file', problemLine(file.path, each), adviceOn(each.unset)),
  )
  if (wrong.length > 0) return wrong
  const { accounts = [], tokens = [], channels = [], models = [], prices = [] } = file.value ?? {}
  const counts = Object.entries({ accounts, tokens, channels, models, prices })
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name} ${list.length}`)
  const says = `${file.path}: ${counts.length === 0 ? 'nothing declared' : counts.join(', ')}`
  return [ok('configuration file', says), ...checkSecretsIn(file)]
}

/** Secrets in plain text, in a file that others can read. */
function checkSecretsIn({ path, text, value }: NonNullable<TriedConfig['file']>): Finding[] {
  const secrets = [
    ...(value?.channels.flatMap(({ keys }) => keys) ?? []),
    ...(value?.tokens.flatMap(({ token = [] }) => token) ?? []),
    ...(value?.callbacks === undefined ? [] : [value.callbacks.secret]),
    ...(value?.media?.s3 === undefined ? [] : [value.media.s3.secret_key]),
  ]
  const isPlain = secrets.some((secret) => text.includes(secret))
  if (!isPlain || (statSync(path).mode & otherReaders) === 0) return []
  return [
    warning(
      'configuration file',
      `${path} holds secrets and can be read by others`,
      `run: chmod 600 ${path}, or take the secrets from variables with \${NAME}`,
    ),
  ]
}

function checkSandbox({ sandbox, file }: Config): Finding[] {
  if (sandbox === 'off') return []
  if (sandbox === 'on' && file.channels.length > 0) {
    return [
      warning(
        'sandbox',
        'on: it answers, for money, whatever no channel serves',
        'set GATEWAY_SANDBOX=off where callers pay',
      ),
    ]
  }
  const says =
    file.channels.length > 0 ? 'auto: off, there is a channel' : 'answers while there is no channel'
  return [ok('sandbox', says)]
}

function checkCluster({ workers, databaseUrl, redisUrl }: Config): Finding[] {
  if (redisUrl !== undefined || databaseUrl === undefined || workers === 1) return []
  return [
    warning(
      'rate limits',
      `${workers} workers without Redis: each keeps to its share of every limit`,
      'set GATEWAY_REDIS_URL for exact limits',
    ),
  ]
}

function adviceOn(unset: string | undefined): string {
  if (unset === undefined) return 'correct the line; gateway check FILE says the same in CI'
  return unset.startsWith('file:')
    ? "put the value into that file, readable for the gateway's user, or name another file"
    : `set ${unset}, or give a default with \${${unset}:-…}`
}
