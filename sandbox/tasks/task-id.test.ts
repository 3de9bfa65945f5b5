// A task made by one sandbox and asked about at another, in all protocols that have tasks.
import { afterAll, describe, expect, test } from 'bun:test'
import type { Protocol } from '../../src/contract/catalog.ts'
import { type Sandbox, startSandbox } from '../server.ts'
import type { ListedTask } from './task-memory.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05.678Z') }
const taskMs = 10_000
const now = () => clock.time
// How long a task takes is its own affair, so the others may have another idea of it.
const first = startSandbox({ taskSeconds: taskMs / 1000, now })
const second = startSandbox({ taskSeconds: 77, key: 'upk-of-the-second', now })
afterAll(() => Promise.all([first.stop(), second.stop()]))

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

interface Dialect {
  create(prompt: string): [path: string, body: object]
  idIn(created: Body): string
  idForm: RegExp
  pollPath(id: string): string
  isMissing(status: number, body: Body): boolean
  stateOf(task: Body): string
  urlIn(task: Body): string
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
        {
          model: 'vfb-1.0-video-edit',
          input: { prompt, media: [{ type: 'video', url: 'https://up.example/a.mp4' }] },
          parameters: { resolution: '1080P', ratio: '9:21', duration: 4, seed: 2_147_483_647 },
        },
      ],
      idIn: ({ output }) => output.task_id,
      idForm: /^[0-9a-z]{8}(-[0-9a-z]{4}){3}-[0-9a-z]+$/,
      pollPath: (id) => `/api/v1/tasks/${id}`,
      isMissing: (status, { output }) => status === 200 && output?.task_status === 'UNKNOWN',
      stateOf: ({ output }) => output.task_status.toLowerCase(),
      urlIn: ({ output }) => output.video_url,
    },
  ],
  [
    'arkvendor',
    'arkvendor',
    {
      create: (text) => [
        '/contents/generations/tasks',
        {
          model: 'vidmodel-1-0-lite-t2v-250428',
          content: [{ type: 'text', text }],
          ...{ resolution: '480p', ratio: '21:9', frames: 145, seed: 4_294_967_295 },
        },
      ],
      idIn: ({ id }) => id,
      idForm: /^cgt-20260102\d{6}-[0-9a-z]+$/,
      pollPath: (id) => `/contents/generations/tasks/${id}`,
      isMissing: (status) => status === 404,
      stateOf: ({ status }) => status,
      urlIn: ({ content }) => content.video_url,
    },
  ],
  [
    'vendorg',
    'vendorg',
    {
      create: (prompt) => [
        '/v1beta/models/vendorg-video-1-preview:predictLongRunning',
        {
          instances: [{ prompt }],
          parameters: { durationSeconds: 6, resolution: '1080p', aspectRatio: '9:16' },
        },
      ],
      idIn: ({ name }) => name.replace('models/vendorg-video-1-preview/operations/', ''),
      idForm: /^[0-9a-z]+$/,
      pollPath: (id) => `/v1beta/operations/${id}`,
      isMissing: (status) => status === 404,
      stateOf: ({ done, error }) => (error ? 'failed' : done ? 'succeeded' : 'running'),
      urlIn: ({ response }) => response.generateVideoResponse.generatedSamples[0].video.uri,
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
      idForm: /^[0-9a-z]{8}(-[0-9a-z]{4}){3}-[0-9a-z]+$/,
      isMissing: (status, { output }) => status === 200 && output?.task_status === 'UNKNOWN',
      urlIn: ({ output }) => output.results[2].url,
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
      idForm: /^[0-9a-z]+$/,
      isMissing: (status, { code, data }) => status === 200 && code === 1203 && data === null,
      stateOf: ({ data }) => imgvendorStates[data.task_status] ?? '',
      urlIn: ({ data }) => data.task_result.images[8].url,
    },
  ],
]

const maxIdLetters = 90

describe.each(dialects)('%s', (_, protocol, dialect) => {
  const { create, idIn, idForm, pollPath, isMissing, stateOf, urlIn } = dialect
  const ask = async (sandbox: Sandbox, path: string, init: RequestInit = {}) => {
    const key = sandbox === second ? 'upk-of-the-second' : 'upk-of-the-first'
    const response = await fetch(`${sandbox.protocols[protocol]}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${key}`,
        'x-goog-api-key': key,
        'x-dashscope-async': 'enable',
      },
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const made = async (prompt: string, sandbox = first): Promise<string> => {
    const [path, body] = create(prompt)
    const answer = await ask(sandbox, path, { method: 'POST', body: JSON.stringify(body) })
    return idIn(answer.body)
  }
  /** What is told of a task, but for where and the id of the call. */
  const told = async (sandbox: Sandbox, id: string) => {
    const { body } = await ask(sandbox, pollPath(id))
    const { request_id: _, ...rest } = body
    return JSON.parse(JSON.stringify(rest).replaceAll(sandbox.url, 'HERE')) as Body
  }

  test('a task is told of alike by another sandbox, from its queue to its video', async () => {
    const id = await made('a small cat')
    expect(id).toMatch(idForm)
    expect(id.length).toBeLessThanOrEqual(maxIdLetters)
    for (const wait of [0, taskMs / 2]) {
      clock.time += wait
      expect(stateOf(await told(second, id))).toMatch(/pending|queued|running/)
      expect(await told(second, id)).toEqual(await told(first, id))
    }
    clock.time += taskMs / 2
    expect(stateOf(await told(second, id))).toBe('succeeded')
    expect(await told(second, id)).toEqual(await told(first, id))
    const [here, there] = await Promise.all(
      [first, second].map(async (sandbox) => {
        const url = urlIn((await ask(sandbox, pollPath(id))).body)
        expect(url).toStartWith(sandbox.url)
        return (await fetch(url)).bytes()
      }),
    )
    expect(here!.length).toBeGreaterThan(1_000)
    expect(Buffer.from(there!).equals(here!)).toBe(true)
  })

  test('it fails there for the same reason', async () => {
    const ids = [await made('[[sim:fail]]'), await made('[[sim:fail=content_policy]]')]
    clock.time += taskMs
    const [plain, policy] = [await told(second, ids[0]!), await told(second, ids[1]!)]
    expect([plain, policy]).toEqual([await told(first, ids[0]!), await told(first, ids[1]!)])
    expect(stateOf(plain)).toBe('failed')
    expect(policy).not.toEqual(plain)
  })

  test('its directives hold there too', async () => {
    const [slow, torn, gone, bad] = [
      await made('[[sim:delay=40s]] [[sim:no-usage]]'),
      await made('[[sim:flip]]'),
      await made('[[sim:vanish]]'),
      await made('[[sim:poll=503]]'),
    ]
    clock.time += taskMs
    const states = []
    for (let i = 0; i < 3; i++) states.push(stateOf(await told(second, torn)))
    expect(states).toEqual(['succeeded', 'failed', 'succeeded'])
    const answer = await ask(second, pollPath(gone))
    expect(isMissing(answer.status, answer.body)).toBe(true)
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await ask(second, pollPath(bad))).status)
    expect(statuses).toEqual([503, 503, 200])
    expect(stateOf(await told(second, slow))).toBe('running')
    clock.time += 30_000
    const done = await told(second, slow)
    expect([stateOf(done), 'usage' in done]).toEqual(['succeeded', false])
    expect(urlIn(done)).toBe(urlIn(await told(first, slow)))
  })

  test('as much comes of it there', async () => {
    const ids = [await made('[[sim:images=1]]'), await made('[[sim:no-output]]'), await made('all')]
    clock.time += taskMs
    for (const id of ids) {
      const [here, there] = [await told(first, id), await told(second, id)]
      for (const { output } of [here, there]) {
        delete output?.orig_prompt
        delete output?.actual_prompt
      }
      expect(there).toEqual(here)
    }
  })

  test('words too long for an id are missing there, and nothing else', async () => {
    const id = await made('a very long story '.repeat(100))
    expect(id.length).toBeLessThanOrEqual(maxIdLetters)
    clock.time += taskMs
    const { output, ...rest } = await told(first, id)
    const { orig_prompt: _, actual_prompt: __, ...known } = output ?? {}
    expect(await told(second, id)).toEqual(output === undefined ? rest : { ...rest, output: known })
  })

  test('an id that was altered is nobody’s', async () => {
    const id = await made('a cat')
    const other = await made('another cat')
    const altered = [...id].map((letter, at) => {
      const wrong = letter === '-' ? '' : letter === '1' ? '2' : '1'
      return id.slice(0, at) + wrong + id.slice(at + 1)
    })
    const more = ['0', `${id}0`, `${id}-`, id.slice(0, -1), id.toUpperCase(), 'z'.repeat(5_000)]
    for (const strange of [...altered, ...more, id.slice(0, 30) + other.slice(30)]) {
      const { status, body } = await ask(second, pollPath(strange))
      expect([strange, isMissing(status, body)]).toEqual([strange, true])
    }
    expect(stateOf(await told(second, id))).toMatch(/pending|queued|running/)
  })

  test('a sandbox started after the first one stopped knows it', async () => {
    const early = startSandbox({ taskSeconds: taskMs / 1000, now })
    const id = await made('left behind', early)
    await early.stop()
    clock.time += taskMs
    const late = startSandbox({ now })
    try {
      const { body } = await ask(late, pollPath(id))
      expect(stateOf(body)).toBe('succeeded')
      expect((await fetch(urlIn(body))).status).toBe(200)
      const listed = await (await fetch(`${late.url}/_sandbox/tasks`)).json()
      expect(listed).toEqual({ tasks: [] as ListedTask[] })
    } finally {
      await late.stop()
    }
  })
})

test('an id of one protocol is none of another', async () => {
  const order = { instances: [{ prompt: 'a fox' }] }
  const created = await fetch(`${first.protocols.vendorg}/v1beta/models/m:predictLongRunning`, {
    method: 'POST',
    body: JSON.stringify(order),
  })
  const { name } = (await created.json()) as { name: string }
  const letters = name.replace('models/m/operations/', '')
  const id = letters.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const answer = await fetch(`${first.protocols.vf}/api/v1/tasks/${id}`)
  expect(await answer.json()).toMatchObject({ output: { task_status: 'UNKNOWN' } })
})
