import { describe, expect, test } from 'bun:test'
import { ConfigError } from './file.ts'
import { readMetricsPlace } from './metrics.ts'
import { readTraceConfig } from './traces.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

describe('traces', () => {
  test('are off without an endpoint, or when they are switched off', () => {
    expect(readTraceConfig({})).toBeUndefined()
    expect(readTraceConfig({ OTEL_SERVICE_NAME: 'x' })).toBeUndefined()
    expect(readTraceConfig({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeUndefined()
  })

  test('go below the general endpoint, or to just the one for traces', () => {
    expect(readTraceConfig(endpoint)!.url).toBe('http://collector:4318/v1/traces')
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'https://other/in'
    const env = { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT }
    expect(readTraceConfig(env)!.url).toBe('https://other/in')
  })

  test('have defaults for the rest', () => {
    expect(readTraceConfig(endpoint)).toMatchObject({
      headers: {},
      timeoutMs: 10_000,
      resource: { 'service.name': 'model-gateway' },
      sampling: { ratio: 1, followsParent: true },
    })
  })

  test('take headers and attributes as percent-encoded pairs', () => {
    const read = readTraceConfig({
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team=a=b',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=prod',
      OTEL_SERVICE_NAME: 'gw-1',
    })!
    expect(read.headers).toEqual({ authorization: 'Bearer abc', 'x-team': 'a=b' })
    expect(read.resource).toEqual({ 'deployment.environment': 'prod', 'service.name': 'gw-1' })
  })

  test.each([
    ['always_on', '', { ratio: 1, followsParent: false }],
    ['always_off', '', { ratio: 0, followsParent: false }],
    ['traceidratio', '0.25', { ratio: 0.25, followsParent: false }],
    ['parentbased_traceidratio', '0', { ratio: 0, followsParent: true }],
  ])('are sampled as %s %s says', (OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, sampling) => {
    const env = { ...endpoint, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }
    expect(readTraceConfig(env)!.sampling).toEqual(sampling)
  })

  test.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hush@c' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://c' }, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'hush' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'a=%0ahush' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: 'soon' }, 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: 'some' }, 'OTEL_TRACES_SAMPLER'],
    [
      { ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
      'OTEL_TRACES_SAMPLER_ARG',
    ],
  ])('%j is refused in a sentence that names it and repeats no secret', (env, name) => {
    expect(() => readTraceConfig(env)).toThrow(ConfigError)
    expect(() => readTraceConfig(env)).toThrow(name)
    expect(() => readTraceConfig(env)).not.toThrow('hush')
  })
})

describe('metrics', () => {
  test.each([
    ['on', 'on'],
    ['off', 'off'],
    ['9464', { host: '127.0.0.1', port: 9464 }],
    ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
    ['[::1]:9464', { host: '::1', port: 9464 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
  ] as const)('%s is taken', (text, place) => {
    expect(readMetricsPlace(text)).toEqual(place)
  })

  test.each(['yes', '99999', '-1', ':1', 'a b:1', '10.0.0.0/8:1'])('%s is refused', (text) => {
    expect(() => readMetricsPlace(text)).toThrow('GATEWAY_METRICS')
  })
})
