// gateway channel: the upstream accounts calls are sent to. Keys go in and never come out.
import { protocols } from '../contract/config-schema/names.ts'
import { type Command, type Context, type Flags, misuse, pageFlags } from './command.ts'
import { list, segment } from './legacy-list.ts'
import { nearest } from './nearest.ts'
import { cell, column, numberColumn, type Row, record, rowOf } from './show.ts'

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

/** A count, or as many marks as the gateway showed. */
const keyCount = (row: Row): string =>
  cell(Array.isArray(row['keys']) ? row['keys'].length : (row['keys'] ?? row['key_count']))

const shown = (answer: unknown): string => {
  const row = rowOf(answer)
  return record(row['keys'] === undefined ? row : { ...row, keys: keyCount(row) })
}

const namesOf = (value: unknown): string =>
  cell(Array.isArray(value) ? value : Object.keys(rowOf(value)))

/** `disabled`, or how it is doing. */
const stateOf = (row: Row): string =>
  row['disabled'] === true ? 'disabled' : cell(rowOf(row['health'])['state'] ?? 'active')

export const channelCommands: readonly Command[] = [
  {
    path: ['channel', 'create'],
    args: [],
    summary: 'add an upstream account',
    flags: {
      name: { value: 'NAME', required: true, summary: 'what to call it' },
      ...channelFlags,
      protocol: { ...channelFlags['protocol']!, required: true },
      model: { ...channelFlags['model']!, required: true },
    },
    async run(context) {
      const body = channelBody(context)
      if (body['keys'] === undefined) {
        throw misuse('channel create needs --key or --key-env')
      }
      const answer = await context.admin.ask('POST', '/channels', { body })
      return { answer, text: shown(answer) }
    },
  },
  {
    path: ['channel', 'list'],
    args: [],
    summary: 'all channels, without their keys',
    flags: pageFlags,
    run: (context) =>
      list(context, {
        path: '/channels',
        what: 'channels',
        columns: [
          column('id'),
          column('name'),
          column('region'),
          { title: 'state', value: stateOf },
          { title: 'protocols', value: (row) => namesOf(row['protocols']) },
          { title: 'models', value: (row) => namesOf(row['models']) },
          numberColumn('priority'),
          numberColumn('weight'),
          { title: 'keys', right: true, value: keyCount },
          column('source'),
        ],
      }),
  },
  {
    path: ['channel', 'update'],
    args: ['ID'],
    summary: 'change a channel; keys, protocols and models given replace the old ones',
    flags: {
      name: { value: 'NAME', summary: 'what to call it' },
      disabled: { value: 'true|false', summary: 'switch it off or on' },
      ...channelFlags,
    },
    async run(context) {
      const body = channelBody(context)
      if (Object.values(body).every((value) => value === undefined)) {
        throw misuse('nothing to change; see gateway channel update --help')
      }
      const path = `/channels/${segment(context.line.arg(0))}`
      const answer = await context.admin.ask('PATCH', path, { body })
      return { answer, text: shown(answer) }
    },
  },
  {
    path: ['channel', 'delete'],
    args: ['ID'],
    summary: 'take a channel out of service for good',
    flags: {},
    async run({ line, admin }) {
      const answer = await admin.ask('DELETE', `/channels/${segment(line.arg(0))}`)
      return { answer, text: `deleted ${cell(line.arg(0))}` }
    },
  },
  {
    path: ['channel', 'test'],
    args: ['ID'],
    summary: 'make one cheap call through a channel',
    flags: { model: { value: 'MODEL', summary: 'with this model' } },
    async run({ line, admin }) {
      const answer = await admin.ask('POST', `/channels/${segment(line.arg(0))}/test`, {
        body: { model: line.text('model') },
      })
      const { ok, latency_ms: latencyMs, error } = rowOf(answer)
      const message = rowOf(error)['message'] ?? error
      const text = ok === true ? `ok in ${cell(latencyMs)} ms` : `failed: ${cell(message)}`
      return { answer, text, ok: ok === true }
    },
  },
]
