// gateway channel: the upstream accounts calls are sent to. Keys go in and never come out.

import { channelChange, channelCreation } from '../../admin/catalog/channel-body-schema.ts'
import { channel, channelQuery } from '../../admin/catalog/channel-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command, Context, Flags } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, rowOf } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

const repeated = {
  keys: ['key', 'KEY'],
  protocols: ['protocol', 'NAME=URL'],
  models: ['model', 'GATEWAY=UPSTREAM'],
} as const

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
    },
    call: 'POST /channels',
    input: { schema: channelCreation, repeated },
    body(context) {
      const keys = keysOf(context)
      if (keys['keys'] === undefined) throw misuse('channel create needs --key or --key-env')
      return keys
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
    flags: keyFlags,
    call: 'PATCH /channels/:id',
    input: { schema: channelChange, repeated },
    body: keysOf,
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
