// The directives that go wrong, on create and on poll, in all protocols that have tasks.
import { afterAll, describe, expect, test } from 'bun:test'
import type { Protocol } from '../../src/contract/catalog.ts'
import { startSandbox } from '../server.ts'
import type { ListedTask } from './task-memory.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05Z') }
const taskMs = 10_000
const sandbox = startSandbox({ taskSeconds: taskMs / 1000, now: () => clock.time })
afterAll(() => sandbox.stop())

const key = 'upk-0123456789'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

interface Dialect {
  create(prompt: string): [path: string, body: object]
  idIn(created: Body): string
  pollPath(id: string): string
  /** How a task that nobody knows is told of. */
  missing: { status: number; body: object }
  stateOf(task: Body): string
}

const imgvendorStates: Readonly<Record<string, string>> = {
  submitted: 'queued',
  processing: 'running',
  succeed: 'succeeded',
  failed: 'failed',
}

const dialects: [name: string, Protocol, Dialect][] = [
  [
    'vf',
    'vf',
    {
      create: (prompt) => [
        '/api/v1/services/aigc/video-generation/video-synthesis',
        { model: 'vfb-1.1-t2v', input: { prompt } },
      ],
      idIn: ({ output }) => output.task_id,
      pollPath: (id) => `/api/v1/tasks/${id}`,
      missing: { status: 200, body: { output: { task_status: 'UNKNOWN' } } },
      stateOf: ({ output }) => output.task_status.toLowerCase(),
    },
  ],
  [
    'arkvendor',
    'arkvendor',
    {
      create: (text) => [
        '/contents/generations/tasks',
        { model: 'vidmodel-1-0-pro', content: [{ type: 'text', text }] },
      ],
      idIn: ({ id }) => id,
      pollPath: (id) => `/contents/generations/tasks/${id}`,
      missing: { status: 404, body: { error: { code: 'NotFound.Task' } } },
      stateOf: ({ status }) => status,
    },
  ],
  [
    'vendorg',
    'vendorg',
    {
      create: (prompt) => [
        '/v1beta/models/video-3.1:predictLongRunning',
        { instances: [{ prompt }] },
      ],
      idIn: ({ name }) => name,
      pollPath: (name) => `/v1beta/${name}`,
      missing: { status: 404, body: { error: { status: 'NOT_FOUND' } } },
      stateOf: ({ done, error }) => (error ? 'failed' : done ? 'succeeded' : 'running'),
    },
  ],
  [
    'images of vf',
    'vf',
    {
      create: (prompt) => [
        '/api/v1/services/aigc/image2image/image-synthesis',
        {
          model: 'imga-edit',
          input: { prompt, images: ['https://up.example/a.png'] },
          parameters: { size: '1472*1104', n: 3, seed: 2_147_483_647 },
        },
      ],
      idIn: ({ output }) => output.task_id,
      pollPath: (id) => `/api/v1/tasks/${id}`,
      stateOf: ({ output }) => output.task_status.toLowerCase(),
      missing: { status: 200, body: { output: { task_status: 'UNKNOWN' } } },
    },
  ],
  [
    'imgvendor',
    'imgvendor',
    {
      create: (prompt) => [
        '/v1/images/omni-image',
        {
          model_name: 'imgvendor-v3-omni',
          prompt,
          image_list: [{ image: 'https://up.example/a.png' }],
          ...{ resolution: '4k', aspect_ratio: '21:9', n: 9, watermark_info: { enabled: true } },
        },
      ],
      idIn: ({ data }) => data.task_id,
      pollPath: (id) => `/v1/images/omni-image/${id}`,
      missing: { status: 200, body: { code: 1203, data: null } },
      stateOf: ({ data }) => imgvendorStates[data.task_status] ?? '',
    },
  ],
]

describe.each(dialects)('%s', (_, protocol, { create, idIn, pollPath, missing, stateOf }) => {
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${sandbox.protocols[protocol]}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${key}`,
        'x-goog-api-key': key,
        'x-dashscope-async': 'enable',
      },
    })
  const order = (prompt: string, init: RequestInit = {}) => {
    const [path, body] = create(prompt)
    return ask(path, { method: 'POST', body: JSON.stringify(body), ...init })
  }
  const made = async (prompt: string) => idIn(await (await order(prompt)).json())
  const poll = (id: string, init?: RequestInit) => ask(pollPath(id), init)
  const tasks = async (): Promise<ListedTask[]> => {
    const response = await fetch(`${sandbox.url}/_sandbox/tasks`)
    return ((await response.json()) as { tasks: ListedTask[] }).tasks
  }
  const settled = async (answer: Promise<Response>): Promise<string> => {
    try {
      return String((await answer).status)
    } catch {
      return 'no answer'
    }
  }

  test('status and leak refuse a create, and nothing is made', async () => {
    const before = (await tasks()).length
    expect((await order('[[sim:status=503]]')).status).toBe(503)
    const leaky = await order('[[sim:leak]]')
    expect([leaky.status, (await leaky.text()).includes(key)]).toEqual([500, true])
    expect((await tasks()).length).toBe(before)
  })

  test('hang leaves a create unanswered, and nothing is made', async () => {
    const before = (await tasks()).length
    const left = order('[[sim:hang]]', { signal: AbortSignal.timeout(50) })
    expect(await settled(left)).toBe('no answer')
    expect((await tasks()).length).toBe(before)
  })

  test('cut breaks off the answer to a create that was made', async () => {
    const before = (await tasks()).length
    const broken = order('[[sim:cut=0]]').then(async (answer) => answer.json())
    expect(await broken.catch(() => 'broke off')).toBe('broke off')
    expect((await tasks()).length).toBe(before + 1)
  })

  test('delay, fail and flip are about how the task goes', async () => {
    const quick = await made('[[sim:delay=1s]] [[sim:fail]]')
    const torn = await made('[[sim:delay=1s]] [[sim:flip]]')
    clock.time += 1_000
    expect(stateOf(await (await poll(quick)).json())).toBe('failed')
    const told = []
    for (let i = 0; i < 3; i++) told.push(stateOf(await (await poll(torn)).json()))
    expect(told).toEqual(['succeeded', 'failed', 'succeeded'])
  })

  test('poll answers the first two questions with an error, then the truth', async () => {
    const id = await made('[[sim:poll=503]]')
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await poll(id)).status)
    expect(statuses).toEqual([503, 503, 200])
  })

  test('poll can leak, and hang', async () => {
    const leaky = await poll(await made('[[sim:poll=leak]]'))
    expect([leaky.status, (await leaky.text()).includes(key)]).toEqual([500, true])
    const silent = await made('[[sim:poll=hang]]')
    expect(await settled(poll(silent, { signal: AbortSignal.timeout(50) }))).toBe('no answer')
  })

  test('vanish forgets the task as soon as it should run', async () => {
    const id = await made('[[sim:vanish]]')
    expect(stateOf(await (await poll(id)).json())).toMatch(/pending|queued|running/)
    clock.time += taskMs
    const gone = await poll(id)
    expect(gone.status).toBe(missing.status)
    expect(await gone.json()).toMatchObject(missing.body)
  })
})
