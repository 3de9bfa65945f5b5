// The supported OpenTelemetry settings, under their standard names. Without an endpoint, tracing is
// off.
import { ConfigError, type Environment } from './file.ts'

export interface TraceConfig {
  url: string
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  resource: Readonly<Record<string, string>>
  sampling: { ratio: number; followsParent: boolean }
}

/** For listing the environment variables. */
const traceVariables = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_SDK_DISABLED',
] as const
type Variable = (typeof traceVariables)[number]

const samplers: Readonly<Record<string, { fixed?: number; followsParent: boolean }>> = {
  always_on: { fixed: 1, followsParent: false },
  always_off: { fixed: 0, followsParent: false },
  traceidratio: { followsParent: false },
  parentbased_always_on: { fixed: 1, followsParent: true },
  parentbased_always_off: { fixed: 0, followsParent: true },
  parentbased_traceidratio: { followsParent: true },
}

export function readTraceConfig(env: Environment): TraceConfig | undefined {
  const get = (variable: Variable) => env[variable] || undefined
  const url = readEndpoint(get)
  if (url === undefined || get('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  return {
    url,
    headers: readPairs('OTEL_EXPORTER_OTLP_HEADERS', get('OTEL_EXPORTER_OTLP_HEADERS')),
    timeoutMs: readTimeout(get('OTEL_EXPORTER_OTLP_TIMEOUT') ?? '10000'),
    resource: {
      ...readPairs('OTEL_RESOURCE_ATTRIBUTES', get('OTEL_RESOURCE_ATTRIBUTES')),
      'service.name': get('OTEL_SERVICE_NAME') ?? 'model-gateway',
    },
    sampling: readSampling(
      get('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on',
      get('OTEL_TRACES_SAMPLER_ARG') ?? '1',
    ),
  }
}

/** The general endpoint is a base URL; the one for traces is the full URL. */
function readEndpoint(get: (variable: Variable) => string | undefined): string | undefined {
  const whole = get('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const base = get('OTEL_EXPORTER_OTLP_ENDPOINT')
  const url = whole ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`)
  if (url === undefined) return undefined
  const isGood = /^https?:\/\/[^\s@]+$/.test(url) && URL.canParse(url)
  if (isGood) return url
  const name: Variable =
    whole === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  throw new ConfigError(`${name} takes an http or https address without credentials.`)
}

const maxPairs = 64

/** `name=value` separated by commas, values percent-encoded. Never repeated: it may be secret. */
function readPairs(variable: Variable, text = ''): Record<string, string> {
  const pairs = text.split(',').filter((each) => each.trim() !== '')
  const wrong = new ConfigError(`${variable} takes name=value pairs with commas between.`)
  if (pairs.length > maxPairs) throw wrong
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      const name = pair.slice(0, at).trim()
      if (at < 1 || !/^[\w.-]+$/.test(name)) throw wrong
      return [name, decoded(pair.slice(at + 1).trim(), wrong)]
    }),
  )
}

function decoded(text: string, wrong: ConfigError): string {
  let value: string
  try {
    value = decodeURIComponent(text)
  } catch {
    throw wrong
  }
  if (!/^[\x20-\x7e]*$/.test(value)) throw wrong
  return value
}

const maxTimeoutMs = 60_000

function readTimeout(text: string): number {
  const ms = Number(text)
  if (/^\d{1,6}$/.test(text) && ms >= 1 && ms <= maxTimeoutMs) return ms
  throw new ConfigError(
    `OTEL_EXPORTER_OTLP_TIMEOUT is ${JSON.stringify(text)}; it takes milliseconds, at most ` +
      `${maxTimeoutMs}.`,
  )
}

function readSampling(name: string, argument: string): TraceConfig['sampling'] {
  const sampler = Object.hasOwn(samplers, name) ? samplers[name] : undefined
  if (sampler === undefined) {
    const known = Object.keys(samplers).join(', ')
    throw new ConfigError(
      `OTEL_TRACES_SAMPLER is ${JSON.stringify(name)}; it takes one of ${known}.`,
    )
  }
  const { fixed, followsParent } = sampler
  if (fixed !== undefined) return { ratio: fixed, followsParent }
  const ratio = Number(argument)
  if (/^\d(?:\.\d{1,12})?$/.test(argument) && ratio <= 1) return { ratio, followsParent }
  throw new ConfigError(
    `OTEL_TRACES_SAMPLER_ARG is ${JSON.stringify(argument)}; it takes a share from 0 to 1.`,
  )
}
