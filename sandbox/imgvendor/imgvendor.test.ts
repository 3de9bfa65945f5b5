import { afterAll, describe, expect, test } from 'bun:test'
import { readPng } from '../media/test-png.ts'
import { startSandbox } from '../server.ts'
import { untilLogged } from '../testing.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05.678Z') }
const taskMs = 10_000
const sandbox = startSandbox({ taskSeconds: taskMs / 1000, now: () => clock.time })
afterAll(() => sandbox.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

const base = `${sandbox.protocols.imgvendor}/v1/images`
const headers = { authorization: 'Bearer upk-0123456789' }

async function post(path: string, body: object, from = headers) {
  const init = { method: 'POST', headers: from, body: JSON.stringify(body) }
  const response = await fetch(`${base}/${path}`, init)
  return { status: response.status, body: (await response.json()) as Body }
}

async function get(path: string, from = headers) {
  const response = await fetch(`${base}/${path}`, { headers: from })
  return { status: response.status, body: (await response.json()) as Body }
}

const generate = (prompt: string, more: object = {}) => post('generations', { prompt, ...more })
const omni = (prompt: string, more: object = {}) =>
  post('omni-image', { model_name: 'imgvendor-v3-omni', prompt, ...more })

async function done(created: Promise<{ body: Body }>, path = 'generations'): Promise<Body> {
  const { task_id } = (await created).body.data
  clock.time += taskMs
  return (await get(`${path}/${task_id}`)).body.data
}

const pngAt = async (url: string) => readPng(await (await fetch(url)).bytes())

test('a task is submitted, processed and succeeds with its images', async () => {
  const begun = clock.time
  const { status, body } = await generate('a cat', { n: 2, external_task_id: 'job-1' })
  expect(status).toBe(200)
  const { task_id } = body.data
  const times = { created_at: begun, updated_at: begun }
  const task_info = { external_task_id: 'job-1' }
  expect(body).toEqual({
    code: 0,
    message: 'success',
    request_id: body.request_id,
    data: { task_id, task_status: 'submitted', task_info, ...times },
  })
  expect((await untilLogged(sandbox, 'job-1')).id).toBe(body.request_id)
  const told = { task_id, task_status_msg: '', task_info, watermark_info: { enabled: false } }
  const submitted = { ...told, task_status: 'submitted', ...times }
  expect((await get(`generations/${task_id}`)).body.data).toEqual(submitted)
  clock.time = begun + taskMs / 5
  const processing = { ...submitted, task_status: 'processing', updated_at: clock.time }
  expect((await get(`generations/${task_id}`)).body.data).toEqual(processing)
  clock.time = begun + taskMs
  const { data } = (await get(`generations/${task_id}`)).body
  expect(data).toEqual({
    ...told,
    task_status: 'succeed',
    created_at: begun,
    updated_at: clock.time,
    final_unit_deduction: '2',
    task_result: data.task_result,
  })
  const { images } = data.task_result
  expect(images.map(({ index }: Body) => index)).toEqual([0, 1])
  expect(await pngAt(images[1].url)).toMatchObject({ width: 1360, height: 768 })
})

test('a task is found by either id, by its key alone and on its own path', async () => {
  const { body } = await omni('a dog', { external_task_id: 'a job/2' })
  const { task_id } = body.data
  for (const id of [task_id, 'a%20job%2F2']) {
    expect((await get(`omni-image/${id}`)).body.data.task_id).toBe(task_id)
    const lost = [
      await get(`generations/${id}`),
      await get(`omni-image/${id}`, { authorization: 'Bearer another' }),
    ]
    for (const { status, body: answer } of lost) {
      expect([status, answer.code, answer.data]).toEqual([200, 1203, null])
    }
  }
})

test('an outside id is there once for each key', async () => {
  const order = { external_task_id: 'once' }
  expect((await generate('a', order)).body.code).toBe(0)
  const twice = await generate('b', order)
  expect([twice.status, twice.body.code]).toEqual([400, 1201])
  const other = { authorization: 'Bearer another' }
  expect((await post('generations', { prompt: 'a', ...order }, other)).body.code).toBe(0)
})

test('images have every ratio and resolution', async () => {
  const shapes: [ratio: string, resolution: string, width: number, height: number][] = [
    ['1:1', '1k', 1024, 1024],
    ['9:16', '1k', 768, 1360],
    ['3:2', '2k', 2512, 1680],
    ['21:9', '1k', 1568, 672],
    ['4:3', '4k', 4736, 3552],
  ]
  for (const [aspect_ratio, resolution, width, height] of shapes) {
    const { task_result } = await done(omni('shape', { aspect_ratio, resolution }), 'omni-image')
    expect(await pngAt(task_result.images[0].url)).toMatchObject({ width, height })
  }
})

test('how much an image shall be like its source is in what is drawn', async () => {
  const from = async (more: object) => {
    const order = { image: 'https://up.example/a.png', image_fidelity: 0.8, ...more }
    return (await done(generate('alike', order))).task_result.images[0].url as string
  }
  expect(await from({})).toMatch(/-1i[0-9a-f]{6}f80\.png/)
  expect(await from({ image_fidelity: undefined })).toMatch(/f50\.png/)
  const markOf = async (more: object) => /-1i(.{6})f/.exec(await from(more))?.[1]
  expect(await markOf({ prompt: 'other words' })).toBe((await markOf({}))!)
  expect(await markOf({ image: 'https://up.example/b.png' })).not.toBe((await markOf({}))!)
})

test('the omni path tells what kind of result it is, and a series has a list of its own', async () => {
  const single = await done(omni('one', { n: 2 }), 'omni-image')
  expect(single.task_result.result_type).toBe('single')
  expect(single.task_result.images).toHaveLength(2)
  const order = { result_type: 'series', series_amount: 3, n: 9 }
  const { task_result } = await done(omni('some', order), 'omni-image')
  expect(Object.keys(task_result)).toEqual(['result_type', 'series_images'])
  expect(task_result.series_images).toHaveLength(3)
  const auto = await done(omni('some', { result_type: 'series' }), 'omni-image')
  expect(auto.task_result.series_images).toHaveLength(4)
})

test('a watermark has an address of its own', async () => {
  const data = await done(generate('marked', { watermark_info: { enabled: true } }))
  expect(data.watermark_info).toEqual({ enabled: true })
  expect(data.task_result.images[0].watermark_url).toStartWith(sandbox.url)
})

test('the list has the newest first, page by page, on the path they were made on', async () => {
  const from = { authorization: 'Bearer lister' }
  const ids: string[] = []
  for (const prompt of ['1', '2', '3']) {
    ids.unshift((await post('generations', { prompt }, from)).body.data.task_id)
  }
  await post('omni-image', { prompt: 'elsewhere' }, from)
  const listed = async (search: string) =>
    (await get(`generations${search}`, from)).body.data.map(({ task_id }: Body) => task_id)
  expect(await listed('')).toEqual(ids)
  expect(await listed('?pageNum=2&pageSize=2')).toEqual(ids.slice(2))
  expect(await listed('?pageNum=9')).toEqual([])
  for (const search of ['pageNum=0', 'pageNum=1001', 'pageSize=501', 'pageSize=x']) {
    const { status, body } = await get(`generations?${search}`, from)
    expect([search, status, body.code]).toEqual([search, 400, 1201])
  }
})

describe('directives', () => {
  test('deliver fewer images, none, or no count of what they cost', async () => {
    const two = await done(generate('[[sim:partial=2]]', { n: 5 }))
    expect(two.task_result.images).toHaveLength(2)
    expect(two.final_unit_deduction).toBe('2')
    const none = await done(generate('[[sim:no-output]]', { n: 5 }))
    expect([none.task_status, none.task_result]).toEqual(['succeed', { images: [] }])
    expect('final_unit_deduction' in (await done(generate('[[sim:no-usage]]')))).toBe(false)
  })

  test('let a task fail, which is told with a good code', async () => {
    const failed = await done(generate('[[sim:fail]]'))
    expect([failed.task_status, 'task_result' in failed]).toEqual(['failed', false])
    expect(failed.task_status_msg).toContain('failed')
    const policy = await done(generate('[[sim:fail=content_policy]]'))
    expect(policy.task_status_msg).toContain('risk control')
  })

  test('refuse a create with a code and HTTP 200', async () => {
    for (const code of [1101, 1301, 1303, 5001]) {
      const { status, body } = await generate(`[[sim:fail=${code}]]`)
      expect([status, body.code, body.data]).toEqual([200, code, null])
    }
  })

  test('give every status its code', async () => {
    const codes = { 400: 1200, 401: 1000, 403: 1103, 404: 1203, 429: 1302, 500: 5000, 503: 5001 }
    for (const [status, code] of Object.entries(codes)) {
      const answer = await generate(`[[sim:status=${status}]]`)
      expect([answer.status, answer.body.code]).toEqual([Number(status), code])
    }
  })
})

const long = 'x'.repeat(2501)
const url = 'https://up.example/a.png'
test.each<[string, number, number, object]>([
  ['prompt', 400, 1200, { prompt: '' }],
  ['prompt', 400, 1201, { prompt: long }],
  ['negative_prompt', 400, 1201, { negative_prompt: long }],
  ['negative_prompt', 400, 1201, { negative_prompt: 'rain', image: url }],
  ['model_name', 404, 1203, { model_name: 'imgvendor-v9' }],
  ['model_name', 400, 1201, { model_name: 'imgvendor-v3-omni' }],
  ['model_name', 400, 1201, { model_name: 'imgvendor-image-o1' }],
  ['image', 400, 1201, { image: 'data:image/png;base64,AAAA' }],
  ['image_reference', 400, 1201, { image: url, image_reference: 'face' }],
  ['image_reference', 400, 1201, { image: url, model_name: 'imgvendor-v1-5' }],
  ['image_reference', 400, 1201, { model_name: 'imgvendor-v1-5', image_reference: 'face' }],
  ['image_fidelity', 400, 1201, { image_fidelity: 1.01 }],
  ['human_fidelity', 400, 1201, { human_fidelity: -0.01 }],
  ['resolution', 400, 1201, { resolution: '4k' }],
  ['n', 400, 1201, { n: 0 }],
  ['n', 400, 1201, { n: 10 }],
  ['aspect_ratio', 400, 1201, { aspect_ratio: 'auto' }],
  ['watermark_info', 400, 1201, { watermark_info: { enabled: 1 } }],
  ['external_task_id', 400, 1201, { external_task_id: 7 }],
])('a wrong %s is refused with %d and %d: %#', async (_, status, code, more) => {
  const answer = await generate('a cat', more)
  expect([answer.status, answer.body.code]).toEqual([status, code])
})

test('what is at the bounds is taken', async () => {
  const sound = [
    { prompt: '😀'.repeat(2500), n: 9, resolution: '2k', aspect_ratio: '21:9' },
    { model_name: 'imgvendor-v1-5', image: 'AAAA', image_reference: 'face', human_fidelity: 1 },
    { image: url, image_fidelity: 0, callback_url: 'https://hook.example/', n: null },
  ]
  for (const more of sound) expect((await generate('a cat', more)).body.code).toBe(0)
})

test('the omni path has bounds of its own', async () => {
  const images = (count: number) => Array(count).fill({ image: url })
  const wrong = [
    { model_name: 'imgvendor-v1' },
    { model_name: 'imgvendor-image-o1', resolution: '4k' },
    { model_name: 'imgvendor-image-o1', result_type: 'series' },
    { result_type: 'series', series_amount: 1 },
    { result_type: 'many' },
    { image_list: images(11) },
    { image_list: images(10), element_list: [{ element_id: 1 }] },
    { element_list: [{ element_id: 'x' }] },
    { image_list: [{}] },
  ]
  for (const more of wrong) {
    const { status, body } = await omni('a cat', more)
    expect([more, status, body.code]).toEqual([more, 400, 1201])
  }
  expect((await omni('a cat', { image_list: images(10), aspect_ratio: 'auto' })).body.code).toBe(0)
})
