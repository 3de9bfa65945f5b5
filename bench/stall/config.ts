// What the gateway is configured with for measurements of waiting: models over upstreams of one style each,
// models with large answers, and a second account whose calls are timed. Refuses to know processes.

import { callerConfig } from '../lib/gateway-config.ts'
import { answerModels } from './answers.ts'
import { hostileModels } from './hostile.ts'

/** The account whose calls are timed, and its model at an upstream of its own. */
export const otherCaller = {
  token: 'sk-other0123456789abcdef0123456789',
  model: 'bench-other',
} as const

/** Where the upstreams listen. */
interface StageUrls {
  /** Of those who send what is hard. */
  url: string
  /** Of the other caller: a process with no other work. */
  otherUrl: string
}

export const stageConfig = ({ url, otherUrl }: StageUrls): object => ({
  region: 'cn',
  currency: 'CNY',
  accounts: [...callerConfig.accounts, { name: 'other', balance: '900000000.00' }],
  tokens: [
    ...callerConfig.tokens,
    { account: 'other', name: 'other', token: otherCaller.token, models: ['*'] },
  ],
  models: declaredModels,
  prices: priced(declaredModels.flatMap(({ name, alias }) => (alias === undefined ? name : []))),
  channels: [
    mainChannel(url),
    {
      ...channel('other', 'other-upstream-key'),
      protocols: { chat: `${otherUrl}/v1` },
      models: { [otherCaller.model]: 'another-name' },
    },
    ...[...hostileModels, ...answerModels].map((each) => channelOf(each, url)),
    {
      ...channel('bench-images', 'bench-access:bench-secret'),
      protocols: { imgvendor: url },
      models: { 'imgvendor-v3-omni': '*' },
    },
    {
      ...channel('bench-failing', 'bench-failing-key'),
      protocols: { chat: `${url}/failing` },
      models: { 'bench-failing': '*' },
    },
  ],
})

/** Everything but models over one style. */
const mainChannel = (url: string) => ({
  ...channel('bench', 'bench-upstream-key'),
  protocols: {
    chat: `${url}/v1`,
    responses: `${url}/v1`,
    messages: url,
    embeddings: `${url}/v1`,
    rerank: `${url}/v1`,
    moderations: `${url}/v1`,
    images: `${url}/v1`,
    vf: url,
    arkvendor: url,
    vendorg: url,
  },
  models: { 'bench-chat': '*', 'bench-renamed': 'another-name', ...sameNames },
})

const textModels = ['bench-chat', 'bench-renamed', 'bench-failing', otherCaller.model]
const sameNames = Object.fromEntries(
  [
    'bench-embed',
    'bench-rank',
    'bench-judge',
    'txta-plus',
    'imga-edit',
    'vfb-1.1-i2v',
    'vfb-1.1-t2v',
  ]
    .concat('vidmodel-1-5-pro', 'vendorg-video-1')
    .map((name) => [name, '*']),
)

const channel = (name: string, key: string) => ({
  name,
  region: 'cn',
  keys: [key],
  max_concurrency: 100,
})

interface Declared {
  name: string
  alias?: string
  kind?: string
  interfaces?: string[]
}

const declaredModels: readonly Declared[] = [
  ...textModels.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
  ...[...hostileModels, ...answerModels].map(({ model, wire }) => ({
    name: model,
    kind: 'text',
    interfaces: [wire],
  })),
  { name: 'bench-embed', kind: 'embedding', interfaces: ['embeddings'] },
  { name: 'bench-rank', kind: 'rerank', interfaces: ['rerank'] },
  { name: 'bench-judge', kind: 'moderation', interfaces: ['moderations'] },
  // Names that callers choose.
  { name: 'any-*', alias: 'bench-chat' },
]

const priced = (models: readonly string[]): object[] =>
  models.map((model) => ({
    model,
    unit: 'token',
    per_million: { input: '1.00', output: '1.00' },
  }))

interface OneWire {
  model: string
  wire: string
  /** Where its upstream answers. */
  under?: string
}

const channelOf = ({ model, wire, under = '' }: OneWire, url: string) => ({
  ...channel(model, `${model}-key`),
  protocols: { [wire]: url + under + (wire === 'chat' || wire === 'responses' ? '/v1' : '') },
  models: { [model]: 'another-name' },
})
