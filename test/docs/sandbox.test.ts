// docs/use/sandbox.md: the sandbox is started by itself as the page says, and what it tells of calls, tasks
// and files is compared with what the page shows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { differences } from '../support/docs/answers.ts'
import {
  examplesIn,
  kindOf,
  missingLine,
  type Started,
  startFence,
} from '../support/docs/fences.ts'
import { fencesOf } from '../support/docs/pages.ts'
import { workspace } from '../support/docs/workspace.ts'
import { tempDir } from '../support/gateway.ts'
import { until } from '../support/read.ts'

const page = 'docs/use/sandbox.md'
const shown = (kind: string): string => fencesOf(page).find((fence) => kindOf(fence) === kind)!.text
const [example] = examplesIn(fencesOf(page), ['start'])

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any

let sandbox: Started
beforeAll(async () => {
  const dataDir = tempDir()
  const names = new Map([['--port 9090', '--port 0']])
  const stage = { url: '', token: '', dataDir, cwd: workspace(dataDir), names, lastIds: new Map() }
  sandbox = await startFence(stage, example!)
})
afterAll(async () => {
  expect(await sandbox.stop()).toBe(0)
})

async function ask(path: string, body?: object): Promise<Response> {
  const headers = {
    authorization: 'Bearer any-key',
    'content-type': 'application/json',
    ...(path.includes('synthesis') && { 'x-dashscope-async': 'enable' }),
  }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  return fetch(`${sandbox.url}${path}`, { headers, ...sent })
}
const read = async (path: string): Promise<Any> => (await ask(path)).json()

async function order(prompt: string): Promise<string> {
  const made = await ask('/api/v1/services/aigc/video-generation/video-synthesis', {
    model: 'vfb-1.1-t2v',
    input: { prompt },
    parameters: { resolution: '720P', duration: 5 },
  })
  return ((await made.json()) as Any).output.task_id
}

describe(page, () => {
  test('shows what the sandbox prints when it runs by itself', () => {
    expect(missingLine(example!.output!, sandbox.printed)).toBeUndefined()
  })

  test('shows how a call is told of', async () => {
    const messages = [{ role: 'user', content: 'Go on [[sim:tokens=4]]' }]
    await (await ask('/v1/chat/completions', { model: 'txta-plus', stream: true, messages })).text()
    const told = await until('the end of the call', async () => {
      const { calls } = await read('/_sandbox/calls')
      return calls[0]?.finished ? { total: calls.length, calls } : undefined
    })
    expect(differences(JSON.parse(shown('json calls')), await read('/_sandbox/calls'))).toEqual([])
    expect(told.total).toBe(1)
  })

  test('shows how a request is kept', async () => {
    const [asked] = (await read('/_sandbox/requests')).requests
    const [shownRequest] = JSON.parse(shown('json requests')).requests
    expect(Object.keys(asked)).toEqual(Object.keys(shownRequest))
    expect(JSON.parse(asked.body)).toMatchObject({ model: 'txta-plus' })
    const { status } = await fetch(`${sandbox.url}/_sandbox/requests`)
    expect(status).toBe(401)
  })

  test('shows how a task is told of', async () => {
    const id = await order('A boat [[sim:delay=4s]]')
    const state = async () => (await read('/_sandbox/tasks')).tasks[0].state as string
    await until('the task to run', async () => ((await state()) === 'running' ? true : undefined))
    for (const _ of [1, 2]) await read(`/api/v1/tasks/${id}`)
    expect(differences(JSON.parse(shown('json tasks')), await read('/_sandbox/tasks'))).toEqual([])
  })

  test('shows the address of a video', async () => {
    const id = await order('A boat [[sim:delay=100ms]]')
    const url = await until('the video', async () => {
      const { output } = await read(`/api/v1/tasks/${id}`)
      return output.video_url as string | undefined
    })
    expect({ url, missing: missingLine(shown('text video'), url) }).toEqual({
      url,
      missing: undefined,
    })
  })

  test('shows the address of an image', async () => {
    const size = '1024x1024'
    const made = await ask('/v1/images/generations', { model: 'imga-plus', prompt: 'A boat', size })
    const { url } = ((await made.json()) as Any).data[0]
    expect({ url, missing: missingLine(shown('text image'), url) }).toEqual({
      url,
      missing: undefined,
    })
  })
})
