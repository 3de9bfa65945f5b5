// For tests of routing: a complete channel and route.
import type { Route } from '../../catalog/snapshot.ts'
import type { Channel } from '../../contract/catalog.ts'

export const testChannelWith = (more: Partial<Channel> = {}): Channel => ({
  id: 'a',
  name: 'a',
  region: 'cn',
  keys: ['key-a'],
  protocols: {},
  models: {},
  priority: 0,
  weight: 1,
  timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
  maxConcurrency: 2,
  messages: { headers: 'both', auth: 'both' },
  disabled: false,
  source: 'file',
  ...more,
})

export const testRoute = (id: string, more: Partial<Channel> = {}): Route => ({
  channel: testChannelWith({ id, name: id, keys: [`key-${id}`], ...more }),
  protocol: 'chat',
  baseUrl: `http://${id}.example`,
  upstreamModel: 'up',
})
