// What every simulated gateway is set to: its channels, its patience, its models. Short times, so that
// what would take a day is over in minutes of the world's time.
import { type FileDeclaration, fileDeclaration } from '../../src/contract/config-schema/index.ts'

export const lifetimeMs = 75_000
export const unknownMs = 20_000

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
  film: 'vfa-2.7-t2v',
  tokenFilm: 'vidmodel-1-0-lite-t2v',
  drawing: 'imgvendor-v2',
  picture: 'imga-plus',
  text: 'txta-plus',
} as const

export const settings: FileDeclaration = fileDeclaration.parse({
  channels: [
    channel('vf', 'vf', { [models.film]: models.film, [models.picture]: 'imga-2.5-t2i' }),
    channel('ark', 'arkvendor', { [models.tokenFilm]: 'lite-in-our-account' }),
    channel('img', 'imgvendor', { [models.drawing]: models.drawing }),
    channel('draw', 'images', { [models.picture]: models.picture }),
    channel('talk-a', 'chat', { [models.text]: models.text }),
    channel('talk-b', 'chat', { [models.text]: models.text }, { priority: -1 }),
  ],
  tasks: { lifetime: `${lifetimeMs}ms`, unknown_for: `${unknownMs}ms`, lost_after: '10s' },
})
