// model_list of LiteLLM's config as channels: deployments with one account at one address share a channel.
// Addresses, keys and names only; what models cost is told elsewhere.
import { existsSync, readFileSync } from 'node:fs'
import { presets } from '../../../contract/config-schema/names.ts'
import { isObject } from '../../../lib/json/parse.ts'
import { isPlainName, wholePlainName } from '../../../lib/text/plain-name.ts'
import type { Env } from '../../terminal/command.ts'
import {
  type CarriedKind,
  type ChannelDraft,
  canServe,
  distinctNames,
  modelDraft,
  type Plan,
  sha256,
  usualProtocol,
} from '../plan.ts'
import { providers, splitModel } from './providers.ts'

export interface Deployment {
  /** Name that callers use here. */
  name: string
  provider: string
  upstream: string
  mode: string
  kind: CarriedKind
  /** What LiteLLM's list of prices says of it. */
  listed: Readonly<Record<string, unknown>>
  params: Readonly<Record<string, unknown>>
  info: Readonly<Record<string, unknown>>
}

const kinds: Readonly<Record<string, CarriedKind>> = {
  chat: 'text',
  completion: 'text',
  responses: 'text',
  embedding: 'embedding',
  image_generation: 'image',
  image_edit: 'image',
  rerank: 'rerank',
  moderation: 'moderation',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
}

/** What this page reads; others are named. Prices are read elsewhere. */
const readParams = new Set([
  ...['model', 'api_key', 'api_base', 'base_url', 'custom_llm_provider', 'order', 'weight'],
  ...['organization', 'extra_headers', 'max_parallel_requests', 'timeout', 'api_version'],
  ...['tenant_id', 'client_id', 'client_secret', 'aws_access_key_id', 'aws_secret_access_key'],
  ...['aws_session_token', 'aws_region_name', 'vertex_project', 'vertex_location'],
  ...['vertex_credentials'],
])
const isPrice = (name: string): boolean => /cost|pricing/.test(name)

/** A value, or the variable that it names. */
export class Variables {
  readonly #env: Env

  constructor(env: Env, declared: unknown) {
    const own = isObject(declared) ? Object.entries(declared) : []
    this.#env = { ...env, ...Object.fromEntries(own.map(([name, value]) => [name, String(value)])) }
  }

  get(name: string): string | undefined {
    return this.#env[name] || undefined
  }

  /** Undefined where it is not said; an Error names a variable that is not set. */
  read(value: unknown): string | undefined | Error {
    if (value === undefined || value === null || value === '') return undefined
    const text = String(value)
    const name = /^os\.environ\/(.+)$/.exec(text)?.[1]
    if (name === undefined) return text
    return this.get(name) ?? new Error(`the variable ${name} is not set`)
  }
}

/** The name that callers have used, as names are here. */
export function nameHere(plan: Plan, name: string): string {
  if (isPlainName(name)) return name
  const here = wholePlainName(name)
  plan.change('model', here, `callers have asked for '${name}'; here it is '${here}'`)
  return here
}

type Json = Readonly<Record<string, unknown>>

/** By any name under which LiteLLM would look for it. */
function listedOf(prices: Json, names: readonly unknown[]): Json {
  const found = names.map((name) => prices[String(name)]).find(isObject)
  return found ?? {}
}

const isEmbedding = (model: string): boolean => /embed/i.test(model)

/** `prices`: LiteLLM's list of them, empty if it was not given. */
export function readDeployments(plan: Plan, list: unknown, prices: Json): Deployment[] {
  const entries: unknown[] = Array.isArray(list) ? list : []
  return entries.flatMap((entry) => (isObject(entry) ? readDeployment(plan, entry, prices) : []))
}

function readDeployment(plan: Plan, entry: Json, prices: Json): Deployment[] {
  const params = isObject(entry['litellm_params']) ? entry['litellm_params'] : {}
  const info = isObject(entry['model_info']) ? entry['model_info'] : {}
  const called = String(entry['model_name'] ?? '')
  const model = String(params['model'] ?? '')
  if (called.includes('*') || model.includes('*')) {
    const reason = 'a pattern: add the models that are used with gateway channel discover --add'
    plan.leave('model', called, reason)
    return []
  }
  const said = params['custom_llm_provider']
  const split = splitModel(model, typeof said === 'string' ? said : undefined)
  const based = split ?? (params['api_base'] ? { provider: 'openai', upstream: model } : undefined)
  if (based === undefined || providers[based.provider] === undefined) {
    plan.leave('model', called, `no preset here for the provider of '${model}'`)
    return []
  }
  const { provider, upstream } = based
  const names = [info['base_model'], model, upstream, `${provider}/${upstream}`]
  const listed = listedOf(prices, names)
  const usual = isEmbedding(model) ? 'embedding' : 'chat'
  const mode = String(info['mode'] ?? listed['mode'] ?? usual)
  const kind = kinds[mode]
  if (kind === undefined) {
    plan.leave('model', called, `of the mode ${mode}, which is not carried`)
    return []
  }
  return [{ name: nameHere(plan, called), provider, upstream, mode, kind, params, info, listed }]
}

export function addChannels(plan: Plan, deployments: readonly Deployment[], env: Variables): void {
  const groups = Map.groupBy(deployments, groupOf)
  const names = distinctNames(
    [...groups].map(([id, [first]]) => ({
      id,
      name: `litellm-${first!.provider.replaceAll('_', '-')}`,
      otherwise: 'litellm',
    })),
  )
  for (const [id, members] of groups) {
    for (const [at, part] of withoutTwins(members).entries()) {
      const name = at === 0 ? names.get(id)! : `${names.get(id)!}-${at + 1}`
      const channel = channelOf(part, name, env)
      if (channel instanceof Error) {
        const served = part.map((each) => each.name).join(', ')
        plan.leave('channel', name, `${channel.message}; it would serve ${served}`)
        continue
      }
      const able = part.filter(({ name: model, kind }) => {
        if (canServe(channel, kind)) return true
        plan.leave('model', model, `the channel ${name} has no protocol for ${kind} here`)
        return false
      })
      if (able.length === 0) continue
      plan.channels.push({ ...channel, models: servedBy(able) })
      for (const { name: model, kind } of able) plan.models.set(model, modelDraft(model, kind))
      nameUnread(plan, name, able)
    }
  }
}

/** One account at one address, with one place in the order. */
const groupOf = ({ provider, params }: Deployment): string =>
  JSON.stringify([
    provider,
    ...[...readParams]
      .filter((name) => name !== 'model')
      .map((name) => (name === 'api_key' ? keyFingerprint(params[name]) : (params[name] ?? null))),
  ])

/** Names of channels are made of it, so not the key itself. */
const keyFingerprint = (key: unknown): unknown =>
  typeof key !== 'string' || key.startsWith('os.environ/') ? (key ?? null) : sha256(key)

/** Two deployments of one name with one account need a channel each. */
function withoutTwins(members: readonly Deployment[]): Deployment[][] {
  const parts: Deployment[][] = []
  for (const member of members) {
    const part = parts.find((each) => each.every(({ name }) => name !== member.name))
    if (part === undefined) parts.push([member])
    else part.push(member)
  }
  return parts
}

function nameUnread(plan: Plan, channel: string, part: readonly Deployment[]): void {
  for (const { name, params } of part) {
    const unread = Object.keys(params).filter((each) => !readParams.has(each) && !isPrice(each))
    if (unread.length > 0) {
      plan.leave('setting', `${channel}/${name}`, `litellm_params ${unread.join(', ')}`)
    }
    if (params['api_version'] !== undefined) {
      plan.change('channel', channel, 'asks the v1 interface, which takes no api_version')
    }
  }
}

const servedBy = (part: readonly Deployment[]): Record<string, string> =>
  Object.fromEntries(part.map(({ name, upstream }) => [name, upstream === name ? '*' : upstream]))

function channelOf(
  part: readonly Deployment[],
  name: string,
  env: Variables,
): ChannelDraft | Error {
  const [first] = part as [Deployment]
  const access = accessOf(first, new Set(part.map(({ kind }) => kind)), env)
  if (access instanceof Error) return access
  const { order, weight, timeout, max_parallel_requests: parallel } = first.params
  const { extra_headers: extra, organization } = first.params
  const headers = {
    ...(isObject(extra) && extra),
    ...(typeof organization === 'string' && { 'openai-organization': organization }),
  }
  return {
    name,
    ...access,
    // There, a smaller order is first.
    ...(typeof order === 'number' && { priority: -order }),
    ...(typeof weight === 'number' && { weight }),
    ...(typeof parallel === 'number' && { max_concurrency: parallel }),
    ...(typeof timeout === 'number' && { timeouts: { total: `${timeout}s` } }),
    ...(Object.keys(headers).length > 0 && {
      request: { headers: { set: headers as Record<string, string> } },
    }),
  }
}

type Access = Omit<ChannelDraft, 'name'>

function accessOf(
  { provider, params }: Deployment,
  made: ReadonlySet<CarriedKind>,
  env: Variables,
): Access | Error {
  const base = env.read(params['api_base'] ?? params['base_url'])
  if (base instanceof Error) return base
  if (provider === 'bedrock') return bedrockAccess(params, base, env)
  if (provider === 'vertex_ai') return vertexAccess(params, env)
  const { preset, keys, path = '' } = providers[provider]!
  if (provider === 'azure' && params['tenant_id'] !== undefined)
    return entraAccess(params, base, env)
  const given = env.read(params['api_key'])
  if (given instanceof Error) return given
  const key = given ?? keys.map((each) => env.get(each)).find((each) => each !== undefined)
  if (key === undefined && presets.get(preset ?? '')?.keyless !== true) {
    return new Error(`it has no api_key, and the variable ${keys[0]} is not set`)
  }
  const access = key === undefined ? {} : { keys: [key] }
  if (base === undefined) {
    return preset === undefined ? new Error('it has no api_base') : { preset, ...access }
  }
  if (provider === 'azure') return { preset: 'azure-openai', base_url: originOf(base), ...access }
  return {
    ...(preset !== undefined && { preset }),
    ...access,
    protocols: addresses(provider, base, path, made),
  }
}

const originOf = (address: string): string => URL.parse(address)?.origin ?? address

/** Some give the address of the call itself. */
const callPath = /\/(chat\/completions|embeddings|rerank|moderations|audio\/\w+|images\/\w+)$/

function addresses(
  provider: string,
  given: string,
  path: string,
  made: ReadonlySet<CarriedKind>,
): Record<string, string> {
  const base = given.replace(/\/+$/, '').replace(callPath, '')
  if (provider === 'anthropic') return { messages: base.replace(/\/v1(\/messages)?$/, '') }
  if (provider === 'gemini') return { generate: base.replace(/\/v1(beta)?$/, '') }
  const whole = base.endsWith(path) ? base : base + path
  return Object.fromEntries([...made].map((kind) => [usualProtocol(kind), whole]))
}

/** The values of these settings, or of the variables that stand for them. */
function settingsOf(
  params: Deployment['params'],
  env: Variables,
  names: Readonly<Record<string, string>>,
): Record<string, string> | Error {
  const found: Record<string, string> = {}
  for (const [setting, variable] of Object.entries(names)) {
    const value = env.read(params[setting])
    if (value instanceof Error) return value
    const known = value ?? env.get(variable)
    if (known === undefined) return new Error(`it has no ${setting}, and ${variable} is not set`)
    found[setting] = known
  }
  return found
}

function bedrockAccess(
  params: Deployment['params'],
  base: string | undefined,
  env: Variables,
): Access | Error {
  const found = settingsOf(params, env, {
    aws_access_key_id: 'AWS_ACCESS_KEY_ID',
    aws_secret_access_key: 'AWS_SECRET_ACCESS_KEY',
    aws_region_name: 'AWS_REGION',
  })
  if (found instanceof Error) return found
  const session = env.read(params['aws_session_token'])
  if (session instanceof Error) return session
  return {
    preset: 'bedrock',
    auth: {
      aws: {
        access_key: found['aws_access_key_id']!,
        secret_key: found['aws_secret_access_key']!,
        region: found['aws_region_name']!,
        ...(session !== undefined && { session_token: session }),
      },
    },
    ...(base !== undefined && { protocols: { bedrock: base.replace(/\/+$/, '') } }),
  }
}

function vertexAccess(params: Deployment['params'], env: Variables): Access | Error {
  const found = settingsOf(params, env, {
    vertex_credentials: 'GOOGLE_APPLICATION_CREDENTIALS',
    vertex_location: 'VERTEXAI_LOCATION',
  })
  if (found instanceof Error) return found
  const given = found['vertex_credentials']!
  const account = existsSync(given) ? readFileSync(given, 'utf8') : given
  const project = env.read(params['vertex_project'])
  if (project instanceof Error) return project
  return {
    preset: 'vertex',
    auth: { google: { service_account: account } },
    vertex: {
      location: found['vertex_location']!,
      ...(project !== undefined && { project }),
    },
  }
}

function entraAccess(
  params: Deployment['params'],
  base: string | undefined,
  env: Variables,
): Access | Error {
  const found = settingsOf(params, env, {
    tenant_id: 'AZURE_TENANT_ID',
    client_id: 'AZURE_CLIENT_ID',
    client_secret: 'AZURE_CLIENT_SECRET',
  })
  if (found instanceof Error) return found
  if (base === undefined) return new Error('it has no api_base')
  const { tenant_id: tenant = '', client_id = '', client_secret = '' } = found
  return {
    preset: 'azure-entra',
    base_url: originOf(base),
    auth: { azure: { tenant, client_id, client_secret } },
  }
}
