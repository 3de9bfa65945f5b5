// gateway channel: the upstream accounts calls are sent to, and gateway preset: providers that one can be
// made from with a key alone. Keys go in and never come out.

import { channelChangeFields } from '../../admin/catalog/channel-body-schema.ts'
import { channel, channelQuery } from '../../admin/catalog/channel-schema.ts'
import { preset, presetQuery } from '../../admin/channels/preset-schema.ts'
import { channelFields } from '../../contract/config-schema/index.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Context, Flags } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, record, rowOf, rowsOf, table } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'
import { cloudFlags, cloudOf } from './clouds/flags.ts'

const repeated = {
  keys: ['key', 'KEY'],
  add_keys: ['add-key', 'KEY'],
  protocols: ['protocol', 'NAME=URL'],
  models: ['model', 'GATEWAY=UPSTREAM'],
} as const

/** Lists and objects inside are for the file and the API; accounts at clouds have flags of their own. */
const nested = { auth: true, vertex: true, request: true, data: true, billing: true } as const
const creation = channelFields.omit(nested).extend({ disabled: channelChangeFields.shape.disabled })
const change = channelChangeFields.omit(nested)

const keyFlags: Flags = {
  'key-env': {
    value: 'NAME',
    many: true,
    summary: 'variable that holds a key, so that it stays out of the shell history',
  },
}

function keysOf({ line, env }: Context): Row {
  const fromEnv = line.texts('key-env').map((name) => {
    const key = env[name]
    if (key === undefined || key === '') throw misuse(`--key-env: the variable ${name} is not set`)
    return key
  })
  const keys = [...line.texts('key'), ...fromEnv]
  return keys.length === 0 ? {} : { keys }
}

/** Keys, or an account at a cloud. */
const credentialOf = (context: Context): Row => ({ ...keysOf(context), ...cloudOf(context) })

/** A preset may know a server that takes none. */
function newKeysOf(context: Context): Row {
  const keys = credentialOf(context)
  const isGiven = Object.keys(keys).length > 0 || context.line.text('preset') !== undefined
  if (!isGiven) throw misuse('channel create needs --key or --key-env')
  return keys
}

function createdText(row: Row): string {
  const isEmpty = Object.keys(rowOf(row['models'])).length === 0
  const next = `gateway channel discover ${cell(row['name'])} --add`
  const hint = isEmpty
    ? 'it serves no model yet; add those of its upstream with'
    : 'add models with'
  return row['preset'] === null ? record(row) : `${record(row)}\n\n${hint}: ${next}`
}

const discoveryColumns = ['name', 'upstream_model', 'kind', 'priced'].map((field) => ({
  title: field.replace('_', ' '),
  value: (row: Row) => cell(row[field]),
}))

function discoveryText(row: Row): string {
  if (row['ok'] !== true) return `failed: ${cell(row['error'])}`
  const models = rowsOf(row['models'])
  const added = row['added'] === undefined ? undefined : rowsOf(row['added'])
  if (added === undefined) {
    const fresh = models.filter(({ names }) => Array.isArray(names) && names.length === 0)
    const names = fresh.map((each) => cell(each['upstream_model']))
    const list = names.length === 0 ? '' : `\n\nnot served yet:\n${names.join('\n')}`
    return `${models.length} models, ${fresh.length} of them not served by this channel${list}`
  }
  const skipped = rowsOf(row['skipped']).map(
    (each) => `skipped ${cell(each['upstream_model'])}: ${cell(each['reason'])}`,
  )
  const unpriced = added.filter(({ priced }) => priced !== true).length
  const lines = [`${added.length} added, ${skipped.length} skipped`, ...skipped]
  if (added.length > 0) lines.push('', table(added, discoveryColumns))
  if (unpriced > 0) lines.push('', `${unpriced} have no price yet and are refused to callers`)
  return lines.join('\n')
}

const namesOf = (value: unknown): string => cell(Object.keys(rowOf(value)))

const ownColumns = {
  protocols: (row: Row) => namesOf(row['protocols']),
  models: (row: Row) => namesOf(row['models']),
  /** `disabled`, or how it is doing. */
  state: (row: Row) =>
    row['disabled'] === true ? 'disabled' : cell(rowOf(row['health'])['state'] ?? 'active'),
}

export const channelCommands: readonly Command[] = [
  askCommand({
    path: ['channel', 'create'],
    summary: 'add an upstream account',
    flags: {
      key: { value: 'KEY', many: true, summary: 'upstream key; several rotate' },
      ...keyFlags,
      ...cloudFlags,
    },
    call: 'POST /channels',
    input: { schema: creation, repeated },
    body: newKeysOf,
    text: createdText,
  }),
  askCommand({
    path: ['channel', 'preview'],
    summary: 'show the channel that the same flags would create, with the URLs of its calls',
    flags: {
      key: { value: 'KEY', many: true, summary: 'upstream key; several rotate' },
      ...keyFlags,
      ...cloudFlags,
    },
    call: 'POST /channels/preview',
    input: { schema: creation, repeated },
    body: newKeysOf,
  }),
  askCommand({
    path: ['channel', 'discover'],
    args: ['ID'],
    summary: 'which models its upstream has; with --add they become models of the catalog',
    flags: {
      add: { summary: 'add those that the catalog or the channel lacks' },
      only: { value: 'PATTERN', summary: "of these names only, such as 'gpt-*'" },
    },
    call: 'POST /channels/:id/discover',
    body: ({ line }) => ({ add: line.on('add'), only: line.text('only') }),
    text: discoveryText,
    ok: ({ ok }) => ok === true,
  }),
  listCommand(
    { path: ['channel', 'list'], summary: 'all channels, without their keys' },
    {
      path: '/channels',
      what: 'channels',
      item: channel,
      query: channelQuery,
      own: ownColumns,
    },
  ),
  askCommand({
    path: ['channel', 'update'],
    args: ['ID'],
    summary: 'change a channel; keys, protocols and models given replace the old ones',
    flags: { ...keyFlags, ...cloudFlags },
    call: 'PATCH /channels/:id',
    input: { schema: change, repeated },
    body: credentialOf,
  }),
  askCommand({
    path: ['channel', 'delete'],
    args: ['ID'],
    summary: 'take a channel out of service for good',
    call: 'DELETE /channels/:id',
    text: (_, { line }) => `deleted ${cell(line.arg(0))}`,
  }),
  askCommand({
    path: ['channel', 'test'],
    args: ['ID'],
    summary: 'make one cheap call through a channel',
    flags: { model: { value: 'MODEL', summary: 'with this model' } },
    call: 'POST /channels/:id/test',
    body: ({ line }) => ({ model: line.text('model') }),
    text: ({ ok, latency_ms: latencyMs, error }) =>
      ok === true ? `ok in ${cell(latencyMs)} ms` : `failed: ${cell(error)}`,
    ok: ({ ok }) => ok === true,
  }),
]

export const presetCommands: readonly Command[] = [
  listCommand(
    { path: ['preset', 'list'], summary: 'providers that channel create --preset knows' },
    {
      path: '/presets',
      what: 'presets',
      item: preset,
      query: presetQuery,
      own: { protocols: (row: Row) => cell(Object.keys(rowOf(row['protocols']))) },
    },
  ),
]
