// For tests: rows of tasks.
import type { VideoTask } from '../../contract/task.ts'
import { newId } from '../../lib/crypto/ids.ts'

let made = 0

/** Each is a millisecond newer than the previous one. */
export const aTask = (more: Partial<VideoTask> = {}): VideoTask => ({
  kind: 'video',
  id: newId('video', 1_700_000_000_000 + made++),
  accountId: 'acc_1',
  tokenId: 'tok_1',
  requestId: 'req_1',
  interface: 'videos',
  model: 'vfa-2.7-t2v',
  protocol: 'vf',
  channelId: 'ch_1',
  channel: 'main',
  upstreamModel: 'film-1',
  keyFingerprint: 'mark',
  state: 'queued',
  progress: 0,
  request: { prompt: 'a cat', seconds: 5, resolution: '720p', media: [] },
  priceId: 'price_1',
  holdNanos: 3_000_000_000n,
  chargeNanos: 0n,
  media: [],
  createdAtMs: 1_000,
  updatedAtMs: 1_000,
  nextCheckAtMs: 2_000,
  checks: 0,
  misses: 0,
  hidden: false,
  ...more,
})
