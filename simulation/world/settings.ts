// The configuration of every simulated gateway: channels, time-outs, models. The times are short, so that a day
// of a real gateway takes minutes of simulated time.
import { type FileDeclaration, fileDeclaration } from '../../src/contract/config-schema/index.ts'

export const lifetimeMs = 75_000
const unknownMs = 20_000

const timeouts = { connect: '5s', first_byte: '15s', idle: '15s', total: '60s' }

const channel = (name: string, protocol: string, models: Record<string, string>, more = {}) => ({
  name,
  keys: [`key-of-${name}-0123456789`],
  protocols: { [protocol]: `http://${name}.test` },
  models,
  timeouts,
  ...more,
})

export const models = {
  video: 'vfa-2.7-t2v',
  tokenVideo: 'vidmodel-1-0-lite-t2v',
  imageTask: 'imgvendor-v2',
  image: 'imga-plus',
  text: 'txta-plus',
} as const

/** Of the parts that not every world has: lines of batches, and responses in the background. */
export const partModels = {
  line: 'words-by-line',
  response: 'words-in-background',
  ownResponse: 'words-of-our-own',
} as const

/** What this channel takes of the general price. */
export const drawFactorNanos = 700_000_000n

const texts = Object.fromEntries(
  [models.text, partModels.line, partModels.ownResponse].map((name) => [name, name]),
)

export const settings: FileDeclaration = fileDeclaration.parse({
  channels: [
    channel('vf', 'vf', { [models.video]: models.video, [models.image]: 'imga-2.5-t2i' }),
    channel('ark', 'arkvendor', { [models.tokenVideo]: 'lite-in-our-account' }),
    channel('img', 'imgvendor', { [models.imageTask]: models.imageTask }),
    channel('draw', 'images', { [models.image]: models.image }, { cost_factor: '0.7' }),
    channel('talk-a', 'chat', texts),
    channel('talk-b', 'chat', texts, { priority: -1 }),
    channel('think', 'responses', { [partModels.response]: partModels.response }),
  ],
  models: Object.values(partModels).map((name) => ({
    name,
    kind: 'text',
    interfaces: ['chat', 'responses'],
  })),
  tasks: { lifetime: `${lifetimeMs}ms`, unknown_for: `${unknownMs}ms`, lost_after: '10s' },
})
