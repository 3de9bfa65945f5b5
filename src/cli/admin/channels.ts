// gateway channel: the upstream accounts calls are sent to. Keys go in and never come out.

import { channel, channelQuery } from '../../admin/catalog/channel-schema.ts'
import { protocols } from '../../contract/config-schema/names.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Context, Flags } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { nearest } from '../terminal/nearest.ts'
import { cell, type Row, rowOf } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

const channelFlags: Flags = {
  key: { value: 'KEY', many: true, summary: 'upstream key; several rotate' },
  'key-env': {
    value: 'NAME',
    many: true,
    summary: 'variable that holds a key, so that it stays out of the shell history',
  },
  protocol: { value: 'NAME=URL', many: true, summary: `one of ${protocols.join(', ')}` },
  model: {
    value: 'GATEWAY=UPSTREAM',
    many: true,
    summary: "name here and there; 'vfa-*=*' keeps the name",
  },
  region: { value: 'REGION', summary: 'where this upstream is' },
  priority: { value: 'N', summary: 'higher is tried first' },
  weight: { value: 'N', summary: 'share among channels of one priority' },
  'max-concurrency': { value: 'N', summary: 'calls at the same time' },
}

function channelBody({ line, env }: Context): Row {
  const fromEnv = line.texts('key-env').map((name) => {
    const key = env[name]
    if (key === undefined || key === '') throw misuse(`--key-env: the variable ${name} is not set`)
    return key
  })
  const keys = [...line.texts('key'), ...fromEnv]
  const addresses = line.pairs('protocol', 'NAME=URL')
  for (const name of Object.keys(addresses ?? {})) {
    if ((protocols as readonly string[]).includes(name)) continue
    const meant = nearest(name, protocols)
    const hint = meant === undefined ? `known: ${protocols.join(', ')}` : `did you mean '${meant}'?`
    throw misuse(`unknown protocol '${name}'; ${hint}`)
  }
  return {
    name: line.text('name'),
    region: line.text('region'),
    keys: keys.length === 0 ? undefined : keys,
    protocols: addresses,
    models: line.pairs('model', 'GATEWAY=UPSTREAM'),
    priority: line.integer('priority'),
    weight: line.count('weight'),
    max_concurrency: line.count('max-concurrency'),
    disabled: line.yesNo('disabled'),
  }
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
      name: { value: 'NAME', required: true, summary: 'what to call it' },
      ...channelFlags,
      protocol: { ...channelFlags['protocol']!, required: true },
      model: { ...channelFlags['model']!, required: true },
    },
    call: 'POST /channels',
    body(context) {
      const body = channelBody(context)
      if (body['keys'] === undefined) throw misuse('channel create needs --key or --key-env')
      return body
    },
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
    flags: {
      name: { value: 'NAME', summary: 'what to call it' },
      disabled: { value: 'true|false', summary: 'switch it off or on' },
      ...channelFlags,
    },
    call: 'PATCH /channels/:id',
    body(context) {
      const body = channelBody(context)
      if (Object.values(body).every((value) => value === undefined)) {
        throw misuse('nothing to change; see gateway channel update --help')
      }
      return body
    },
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
