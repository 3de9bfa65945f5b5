// For tests: a task that lacks nothing.
import type { VideoTask } from '../../contract/task.ts'

export const taskWith = (more: Partial<VideoTask> = {}): VideoTask => ({
  kind: 'video',
  id: 'video_01',
  accountId: 'acc_1',
  tokenId: 'tok_1',
  requestId: 'req_1',
  interface: 'videos',
  model: 'vfb-1.1-t2v',
  protocol: 'vf',
  channelId: 'sandbox',
  channel: 'sandbox',
  upstreamModel: 'up',
  keyFingerprint: 'k',
  state: 'queued',
  progress: 0,
  request: { prompt: 'a boat', seconds: 5, resolution: '1080p', media: [] },
  priceId: 'price_1',
  holdNanos: 0n,
  chargeNanos: 0n,
  media: [],
  createdAtMs: 1_760_000_000_900,
  updatedAtMs: 1_760_000_000_900,
  nextCheckAtMs: Number.MAX_SAFE_INTEGER,
  checks: 0,
  misses: 0,
  hidden: false,
  ...more,
})

export const finishedWith = (more: Partial<VideoTask> = {}): VideoTask =>
  taskWith({
    state: 'succeeded',
    progress: 40,
    media: [{ kind: 'video', url: 'https://upstream.example/secret.mp4' }],
    usage: { outputSeconds: 5 },
    finishedAtMs: 1_760_000_065_000,
    ...more,
  })
