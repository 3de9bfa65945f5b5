// The dialects in which a caller asks for videos: where each thing is asked, and what an answer says
// in words that all of them share.

export const taskDialects = ['videos', 'arkvendor', 'vendorg'] as const
export type TaskDialect = (typeof taskDialects)[number]

/** `open`: not over, and the dialect does not say more. */
export type SeenState = 'open' | 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

export interface SeenTask {
  state: SeenState
  code?: string
  progress?: number
}

type Fields = Readonly<Record<string, unknown>>

export interface DialectWords {
  create(model: string, prompt: string): { path: string; body: object }
  /** The `video_…` id in the answer to a create. */
  idIn(body: Fields): string
  at(id: string): string
  seen(body: Fields): SeenTask
  cancelAt?: (id: string) => string
  fileAt?: (id: string) => string
}

const states: Readonly<Record<string, SeenState>> = {
  queued: 'queued',
  in_progress: 'running',
  running: 'running',
  completed: 'succeeded',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

const stateOf = (word: unknown): SeenState => {
  const state = states[String(word)]
  if (state === undefined) throw new Error(`a caller was told the word ${String(word)}`)
  return state
}

const codeIn = (error: unknown): { code?: string } =>
  error === null || error === undefined ? {} : { code: String((error as Fields)['code']) }

const plain = (id: string): string => id.replace('video_', '')
const tasksPath = '/arkvendor/api/v3/contents/generations/tasks'

const videos: DialectWords = {
  create: (model, prompt) => ({
    path: '/v1/videos',
    body: { model, prompt, seconds: '5', size: '1280x720' },
  }),
  idIn: ({ id }) => String(id),
  at: (id) => `/v1/videos/${id}`,
  seen: ({ status, progress, error }) => ({
    state: stateOf(status),
    progress: Number(progress),
    ...codeIn(error),
  }),
  cancelAt: (id) => `/v1/videos/${id}`,
  fileAt: (id) => `/v1/videos/${id}/content`,
}

const arkvendor: DialectWords = {
  create: (model, text) => ({
    path: tasksPath,
    body: {
      model,
      content: [{ type: 'text', text }],
      ...{ resolution: '720p', ratio: '16:9', duration: 5 },
    },
  }),
  idIn: ({ platform_id }) => String(platform_id),
  at: (id) => `${tasksPath}/${id}`,
  seen: ({ status, error }) => ({ state: stateOf(status), ...codeIn(error) }),
  cancelAt: (id) => `${tasksPath}/${id}`,
}

const vendorg: DialectWords = {
  create: (model, prompt) => ({
    path: `/vendorg/v1beta/models/${model}:predictLongRunning`,
    body: {
      instances: [{ prompt }],
      parameters: { durationSeconds: 5, resolution: '720p', aspectRatio: '16:9' },
    },
  }),
  idIn: ({ name }) => String(name).replace('operations/', 'video_'),
  at: (id) => `/vendorg/v1beta/operations/${plain(id)}`,
  seen({ done, error }) {
    if (done !== true) return { state: 'open' }
    if (error === undefined) return { state: 'succeeded' }
    const reason = String((error as Fields)['reason'])
    return reason === 'cancelled' ? { state: 'cancelled' } : { state: 'failed', code: reason }
  },
  fileAt: (id) => `/vendorg/v1beta/files/${plain(id)}:download?alt=media`,
}

export const dialectWords: Readonly<Record<TaskDialect, DialectWords>> = {
  videos,
  arkvendor,
  vendorg,
}

/** The more telling of what two dialects say; undefined when they contradict each other. */
export function agreed(a: SeenState, b: SeenState): SeenState | undefined {
  if (a === b) return a
  const isOpen = (state: SeenState) => ['open', 'queued', 'running'].includes(state)
  if (a === 'open' && isOpen(b)) return b
  return b === 'open' && isOpen(a) ? a : undefined
}
