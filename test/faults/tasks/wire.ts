// How the three upstreams of tasks speak: addresses, and answers for each thing they may say. Pure;
// what is said when is the row's business.

export const taskProtocols = ['vf', 'arkvendor', 'vendorg'] as const
export type TaskProtocol = (typeof taskProtocols)[number]

export type Turn = 'create' | 'check' | 'cancel' | 'list' | 'other'

export interface Done {
  /** Left out of the answer when null. */
  url?: unknown
  /** Seconds or video tokens; left out of the answer when null. */
  used?: unknown
  /** The upstream's own idea of now, in seconds. */
  atSeconds?: number
}

export interface TaskWire {
  name: TaskProtocol
  basePath: string
  /** What a request is about, told from its method and its path below the base. */
  turnOf(method: string, path: string): Turn
  idFor(made: string): string
  created(id: string): object
  /** One create, two tasks: both where the id should be, or the second somewhere else. */
  createdTwo(first: string, second: string): object
  createdBesides(first: string, second: string): object
  createdNone: object
  waiting(id: string): object
  running(id: string): object
  done(id: string, more?: Done): object
  failed(id: string, message: string): object
  cancelled?(id: string): object
  /** The word for its state, as the upstream spells it. */
  word?(id: string, word: string, more?: Done): object
  granted?: object
  /** What it has been asked for, as far as it lists that: `made` is the body of a create. */
  list?: (made?: { id: string; atMs: number; body: string }) => object
  tooLate?: { status: number; body: object }
  error(message: string): object
  /** What is used when all goes well, what that costs, and the most a request may cost. */
  usual: { used: number; cost: string; most: string; requested: string }
}

const filmOf = ({ url }: Done, name: string): object =>
  url === null || url === undefined ? {} : { [name]: url }

const given = (used: unknown, shape: (used: unknown) => object): object =>
  used === null || used === undefined ? {} : shape(used)

const vf: TaskWire = {
  name: 'vf',
  basePath: '',
  turnOf(method, path) {
    if (path.endsWith('/video-synthesis')) return method === 'POST' ? 'create' : 'other'
    if (path === '/api/v1/tasks' && method === 'GET') return 'list'
    if (!path.startsWith('/api/v1/tasks/')) return 'other'
    if (method === 'POST' && path.endsWith('/cancel')) return 'cancel'
    return method === 'GET' ? 'check' : 'other'
  },
  idFor: (made) => `up-${made}`,
  created: (id) => ({ output: { task_status: 'PENDING', task_id: id }, request_id: 'r-1' }),
  createdTwo: (first, second) => ({
    output: { task_id: [first, second], task_status: 'PENDING' },
  }),
  createdBesides: (first, second) => ({
    output: { task_id: first, task_status: 'PENDING', tasks: [{ task_id: second }] },
    task_id: second,
    request_id: 'r-1',
  }),
  createdNone: { output: { task_status: 'PENDING' }, request_id: 'r-1' },
  waiting: (id) => vf.word!(id, 'PENDING'),
  running: (id) => vf.word!(id, 'RUNNING'),
  done: (id, more) => vf.word!(id, 'SUCCEEDED', more),
  failed: (id, message) => ({
    output: { task_id: id, task_status: 'FAILED', code: 'InternalError', message },
  }),
  cancelled: (id) => vf.word!(id, 'CANCELED'),
  word: (id, word, more = {}) => ({
    output: { task_id: id, task_status: word, ...filmOf(more, 'video_url') },
    ...given(more.used, (used) => ({ usage: { output_video_duration: used, video_count: 1 } })),
  }),
  granted: { request_id: 'r-2' },
  list: (made) => ({
    total: made === undefined ? 0 : 1,
    data:
      made === undefined
        ? []
        : [
            {
              task_id: made.id,
              model_name: (JSON.parse(made.body) as { model: string }).model,
              status: 'SUCCEEDED',
              gmt_create: made.atMs,
            },
          ],
  }),
  tooLate: {
    status: 400,
    body: { code: 'UnsupportedOperation', message: 'only PENDING tasks can be cancelled' },
  },
  error: (message) => ({ code: 'InternalError', message, request_id: 'r-9' }),
  usual: { used: 5, cost: '5.00', most: '5.00', requested: '5.00' },
}

const arkvendor: TaskWire = {
  name: 'arkvendor',
  basePath: '/api/v3',
  turnOf(method, path) {
    const tasks = '/api/v3/contents/generations/tasks'
    if (path === tasks) return method === 'POST' ? 'create' : method === 'GET' ? 'list' : 'other'
    if (!path.startsWith(`${tasks}/`)) return 'other'
    return method === 'GET' ? 'check' : method === 'DELETE' ? 'cancel' : 'other'
  },
  idFor: (made) => `cgt-${made}`,
  created: (id) => ({ id }),
  createdTwo: (first, second) => ({ id: [first, second] }),
  createdBesides: (first, second) => ({ id: first, task_id: second, tasks: [{ id: second }] }),
  createdNone: { model: 'm' },
  waiting: (id) => arkvendor.word!(id, 'queued'),
  running: (id) => arkvendor.word!(id, 'running'),
  done: (id, more) => arkvendor.word!(id, 'succeeded', more),
  failed: (id, message) => ({
    ...arkvendor.word!(id, 'failed'),
    error: { code: 'InternalServiceError', message },
  }),
  cancelled: (id) => arkvendor.word!(id, 'cancelled'),
  word: (id, word, more = {}) => ({
    id,
    model: 'm',
    status: word,
    ...given(more.url, () => ({ content: filmOf(more, 'video_url') })),
    ...given(more.used, (used) => ({ usage: { completion_tokens: used, total_tokens: used } })),
    ...given(more.atSeconds, (at) => ({ created_at: at, updated_at: at })),
  }),
  granted: {},
  list: (made) => ({
    total: made === undefined ? 0 : 1,
    items:
      made === undefined
        ? []
        : [
            {
              ...(JSON.parse(made.body) as object),
              id: made.id,
              status: 'running',
              created_at: Math.floor(made.atMs / 1_000),
            },
          ],
  }),
  tooLate: {
    status: 409,
    body: { error: { code: 'InvalidAction', message: 'the task cannot be cancelled' } },
  },
  error: (message) => ({ error: { code: 'InternalServiceError', message } }),
  // 1280x720, 121 pictures: 108,900 video tokens, and a tenth more is set aside.
  usual: { used: 100_000, cost: '1.00', most: '3.00', requested: '1.089' },
}

const vendorg: TaskWire = {
  name: 'vendorg',
  basePath: '',
  turnOf(method, path) {
    if (path.endsWith(':predictLongRunning')) return 'create'
    return method === 'GET' && path.includes('/operations/') ? 'check' : 'other'
  },
  idFor: (made) => `models/m/operations/up-${made}`,
  created: (id) => ({ name: id }),
  createdTwo: (first, second) => ({ name: [first, second] }),
  createdBesides: (first, second) => ({
    name: first,
    operation: { name: second },
    names: [second],
  }),
  createdNone: { metadata: {} },
  waiting: (id) => ({ name: id }),
  running: (id) => ({ name: id, done: false, metadata: { state: 'RUNNING' } }),
  done: (id, more = {}) => {
    const metadata = given(more.used, (used) => ({ metadata: { durationSeconds: used } }))
    const sample = { ...given(more.url, (uri) => ({ video: { uri } })), ...metadata }
    const made = { generatedSamples: 'video' in sample ? [sample] : [] }
    return { name: id, done: true, response: { generateVideoResponse: made } }
  },
  failed: (id, message) => ({ name: id, done: true, error: { code: 13, message } }),
  error: (message) => ({ error: { code: 500, message, status: 'INTERNAL' } }),
  usual: { used: 5, cost: '5.00', most: '5.00', requested: '5.00' },
}

export const taskWires: Readonly<Record<TaskProtocol, TaskWire>> = { vf, arkvendor, vendorg }
