// Channels as documents tell of them.

import { channelDeclaration } from '../../contract/config-schema/index.ts'
import { protocols } from '../../contract/config-schema/names.ts'
import { answered, type Operation } from '../../http/operation.ts'
import {
  anything,
  flag,
  list,
  named,
  number,
  object,
  orNull,
  record,
  text,
  time,
  whole,
  word,
} from '../../http/schema.ts'
import { importBody } from '../catalog/channel-import.ts'
import { change, creation, test } from '../catalog/channels.ts'
import {
  adminOperation,
  bodyOf,
  created,
  deleted,
  idOrNameOf,
  pageOf,
  pageParameters,
  schemaOf,
  source,
} from './shared.ts'

const channelState = word(['good', 'probing', 'avoided', 'blocked'])

const channel = named(
  'Channel',
  object({
    id: text(),
    name: text(),
    region: text(),
    keys: whole(0, undefined, 'How many there are; none ever comes out.'),
    protocols: object(Object.fromEntries(protocols.map((name) => [`${name}?`, text()]))),
    models: record(text()),
    priority: whole(),
    weight: number(0),
    timeouts: object({ connect: text(), first_byte: text(), idle: text(), total: text() }),
    max_concurrency: whole(1),
    messages: object({ headers: text(), auth: text(), 'version?': text() }),
    trace: flag('Whether it is told of traces.'),
    disabled: flag(),
    source,
    'health?': object({
      state: channelState,
      failures_in_row: whole(0),
      retry_at: orNull(time()),
      busy: whole(0),
      keys: list(channelState),
      denied_models: list(text()),
    }),
  }),
)

const tested = named(
  'ChannelTest',
  object({
    ok: flag(),
    latency_ms: number(0),
    'model?': text(),
    'error?': text(),
  }),
)

const discovered = named(
  'ChannelDiscovery',
  object({
    ok: flag(),
    latency_ms: number(0),
    models: list(
      object({
        upstream_model: text(),
        names: list(text('A name this channel serves it under; none: it is new.')),
        kind: orNull(text('What the catalog says it makes; null: it is not in it.')),
        priced: flag(),
      }),
    ),
    gone: list(object({ name: text(), upstream_model: text() })),
    'error?': text(),
  }),
)

const importedList = named(
  'ChannelImport',
  object({
    saved: flag(),
    channels: list(
      object({
        name: text(),
        change: word(['new', 'changed', 'same', 'skipped', 'refused']),
        fields: list(object({ field: text(), before: anything(), after: anything() })),
        problem: orNull(text()),
      }),
    ),
  }),
)

const tag = 'Channels'
const id = idOrNameOf('a channel')

export const channelOperations: readonly Operation[] = [
  adminOperation({
    id: 'createChannel',
    method: 'post',
    path: '/channels',
    tag,
    summary: 'Add an upstream account',
    body: bodyOf(named('NewChannel', schemaOf(creation)), {
      chat: {
        name: 'example-channel',
        keys: ['an-upstream-key'],
        protocols: { chat: 'https://up.example/compatible/v1' },
        models: { 'house-writer': 'writer-2026-01-01' },
        timeouts: { first_byte: '30s' },
      },
    }),
    answers: [created(channel, 'The channel.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'listChannels',
    method: 'get',
    path: '/channels',
    tag,
    summary: 'List channels, by name',
    parameters: pageParameters,
    answers: [answered(named('ChannelList', pageOf(channel)), 'A page of them.')],
  }),
  adminOperation({
    id: 'getChannel',
    method: 'get',
    path: '/channels/{id}',
    tag,
    summary: 'Look at a channel',
    parameters: [id],
    answers: [answered(channel, 'The channel.')],
  }),
  adminOperation({
    id: 'changeChannel',
    method: 'patch',
    path: '/channels/{id}',
    tag,
    summary: 'Change a channel',
    description: 'Time-outs one by one, all else is replaced as a whole.',
    parameters: [id],
    body: bodyOf(named('ChannelChange', schemaOf(change)), {
      slower: { timeouts: { first_byte: '60s' }, priority: -1 },
      disabled: { disabled: true },
    }),
    answers: [answered(channel, 'The channel.')],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'deleteChannel',
    method: 'delete',
    path: '/channels/{id}',
    tag,
    summary: 'Remove a channel',
    parameters: [id],
    answers: [deleted],
    refusals: ['conflict'],
  }),
  adminOperation({
    id: 'tryChannel',
    method: 'post',
    path: '/channels/test',
    tag,
    summary: 'Ask a channel one tiny question before it is added',
    description: 'A real call, for which no account pays. Answers 200 either way.',
    body: bodyOf(named('ChannelDeclaration', schemaOf(channelDeclaration)), {
      chat: {
        name: 'example-draft',
        keys: ['an-upstream-key'],
        protocols: { chat: 'http://127.0.0.1:9/v1' },
        models: { 'txta-plus': '*' },
      },
    }),
    answers: [answered(tested, 'How it went.')],
  }),
  adminOperation({
    id: 'testChannel',
    method: 'post',
    path: '/channels/{id}/test',
    tag,
    summary: 'Ask a channel one tiny question',
    description: 'A real call, for which no account pays. Answers 200 either way.',
    parameters: [id],
    body: bodyOf(
      named('ChannelTestRequest', schemaOf(test)),
      { model: { model: 'txta-plus' } },
      false,
    ),
    answers: [answered(tested, 'How it went.')],
  }),
  adminOperation({
    id: 'discoverModels',
    method: 'post',
    path: '/channels/{id}/discover',
    tag,
    summary: 'Ask an upstream which models it has, and compare',
    description: 'Changes nothing. Answers 200 either way.',
    parameters: [id],
    answers: [answered(discovered, 'What it has, and what it no longer has.')],
  }),
  adminOperation({
    id: 'importChannels',
    method: 'post',
    path: '/channels/import',
    tag,
    summary: 'Add and change channels by a YAML text',
    description:
      'In the words of gateway.yaml, all or nothing. With `dry_run` only what would change. Keys ' +
      'that are left out, or are `PUT_THE_KEY_HERE`, stay as they are; new channels begin drained.',
    body: bodyOf(named('ChannelImportRequest', schemaOf(importBody)), {
      poll: {
        yaml:
          'channels:\n  - name: example-import\n    keys: [an-upstream-key]\n' +
          '    protocols: { chat: https://up.example/v1 }\n    models: { txta-plus: "*" }\n',
        dry_run: true,
      },
    }),
    answers: [answered(importedList, 'Each channel, and what changes.')],
    refusals: ['conflict', 'not_found'],
  }),
]
