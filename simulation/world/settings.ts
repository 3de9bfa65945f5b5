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

export const settings: FileDeclaration = fileDeclaration.parse({
  channels: [
    channel('vf', 'vf', { [models.video]: models.video, [models.image]: 'imga-2.5-t2i' }),
    channel('ark', 'arkvendor', { [models.tokenVideo]: 'lite-in-our-account' }),
    channel('img', 'imgvendor', { [models.imageTask]: models.imageTask }),
    channel('draw', 'images', { [models.image]: models.image }),
    channel('talk-a', 'chat', { [models.text]: models.text }),
    channel('talk-b', 'chat', { [models.text]: models.text }, { priority: -1 }),
  ],
  tasks: { lifetime: `${lifetimeMs}ms`, unknown_for: `${unknownMs}ms`, lost_after: '10s' },
})
