// Every row of the table of fields on both sides of its bounds, through the routes, in the
// envelope's own form of an error.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type ImageApp, json, newImageApp } from '../media/test-image-app.ts'
import { imgvendor } from './index.ts'
import { parseImageTask } from './parse.ts'

const generations = '/imgvendor/v1/images/generations'
const omniImage = '/imgvendor/v1/images/omni-image'
const image = 'https://example.com/a.png'
const base64 = 'iVBORw0KGgo='
const withImage = { image: image }
const face = { model_name: 'imgvendor-v1-5', image: image, image_reference: 'face' }

let app: ImageApp
beforeAll(async () => {
  app = await newImageApp(imgvendor)
})
beforeEach(() => {
  app.script.asked = []
})
afterAll(() => app.close())

const send = (path: string, fields: object) =>
  app.ask('POST', path, json({ prompt: 'a boat', ...fields }))

/** What went up. */
async function taken(path: string, fields: object) {
  const { status, body } = await send(path, fields)
  expect([status, body.code, body.message]).toEqual([200, 0, 'success'])
  expect(app.script.asked).toHaveLength(1)
  return app.script.asked[0]!
}

/** In both forms: the envelope's and the common one. */
async function refused(path: string, fields: object, code: number, word: string, param: string) {
  const { status, headers, body } = await send(path, fields)
  expect(body).toEqual({
    code,
    message: expect.stringMatching(/ \(req_\w+\)$/),
    request_id: headers.get('x-gateway-request-id'),
    error: {
      message: body.message,
      type: 'invalid_request_error',
      code: word,
      param,
      request_id: body.request_id,
      upstream_request_id: '',
    },
  })
  expect(status).toBe(word === 'model_not_found' ? 404 : word === 'request_too_large' ? 413 : 400)
  expect(app.script.asked).toEqual([])
}

type Row = readonly [field: string, good: readonly object[], bad: readonly object[]]

const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9']
const each = (name: string, ...values: readonly unknown[]) =>
  values.map((value) => ({ [name]: value }))
const long = (count: number) => '界'.repeat(count)

const shared = (tag: string): readonly Row[] => [
  [
    'prompt',
    each('prompt', 'x', long(2_500), '😀'.repeat(2_500)),
    each('prompt', undefined, null, '', ' ', 5, long(2_501), '😀'.repeat(2_501)),
  ],
  ['n', each('n', 1, 9, null), each('n', 0, 10, -0, -1, 1.5, '1', true, [1], 2 ** 64)],
  [
    'callback_url',
    each(
      'callback_url',
      'https://example.com/hook',
      'http://example.com/',
      `https://example.com/${'a'.repeat(2_028)}`,
      '',
      null,
    ),
    each(
      'callback_url',
      `https://example.com/${'a'.repeat(2_029)}`,
      'https://10.0.0.1/',
      'ftp://example.com/',
      'example.com',
      'https://',
      5,
      {},
    ),
  ],
  [
    'external_task_id',
    each('external_task_id', tag, tag.padEnd(128, 'é'), `${tag} 17/a?b`, null),
    each('external_task_id', '', 'é'.repeat(129), 5, 'a\0b', 'a\nb', '\ud800'),
  ],
  [
    'watermark_info',
    each('watermark_info', { enabled: true }, { enabled: false }, {}, null),
    each('watermark_info', true, 'on', [], { enabled: 'true' }, { enabled: 1 }),
  ],
]

const plainRows: readonly Row[] = [
  ...shared('p'),
  [
    'negative_prompt',
    [
      ...each('negative_prompt', 'rain', long(2_500), '', null),
      { ...withImage, negative_prompt: '' },
      { image: '', negative_prompt: 'rain' },
    ],
    [...each('negative_prompt', long(2_501), 5), { ...withImage, negative_prompt: 'rain' }],
  ],
  [
    'image',
    each('image', image, base64, `data:image/png;base64,${base64}`, '', null),
    [
      ...each('image', 5, 'not base64!', 'ftp://example.com/a.png', 'data:text/html;base64,AAAA'),
      { model_name: 'imgvendor-v1-5', image_reference: 'face' },
    ],
  ],
  [
    'image_reference',
    [face, { ...face, image_reference: 'subject' }, { model_name: 'imgvendor-v1-5' }],
    [
      { ...face, image_reference: undefined },
      { ...face, image_reference: '' },
      { ...face, image_reference: 'hand' },
      { ...face, image_reference: 5 },
      { ...face, model_name: 'imgvendor-v1' },
      { ...face, model_name: 'imgvendor-v2' },
      { ...face, model_name: undefined },
    ],
  ],
  ...['image_fidelity', 'human_fidelity'].map(
    (name): Row => [
      name,
      each(name, 0, 1, 0.45, null),
      each(name, -0.001, 1.001, '0.5', true, Number.NaN.toString()),
    ],
  ),
  ['resolution', each('resolution', '1k', '2k', null), each('resolution', '4k', '1K', '', 1)],
  [
    'aspect_ratio',
    each('aspect_ratio', ...ratios, null),
    each('aspect_ratio', 'auto', '16:10', '16x9', '', 1.5),
  ],
  [
    'element_list',
    each('element_list', [{ element_id: 1 }], [{ element_id: '829836802793406551' }], []).map(
      (fields) => ({ ...fields, model_name: 'imgvendor-v3' }),
    ),
    [
      { element_list: [{ element_id: 1 }] },
      ...each('element_list', 5, [{}], [{ element_id: 0 }], [{ element_id: 2 ** 53 }], ['1']).map(
        (fields) => ({ ...fields, model_name: 'imgvendor-v3' }),
      ),
    ],
  ],
]

const list = (count: number) => Array.from({ length: count }, () => ({ image: image }))
const o1 = { model_name: 'imgvendor-image-o1' }

const omniRows: readonly Row[] = [
  ...shared('o'),
  [
    'image_list',
    each('image_list', [], list(10), [{ image: base64 }], null),
    each('image_list', list(11), image, [image], [{}], [{ image: '' }], [{ image: '?' }]),
  ],
  [
    'element_list',
    [
      { element_list: [{ element_id: 7 }], image_list: list(9) },
      { element_list: Array(10).fill({ element_id: 7 }) },
    ],
    [
      { element_list: [{ element_id: 7 }], image_list: list(10) },
      { element_list: Array(11).fill({ element_id: 7 }) },
    ],
  ],
  [
    'resolution',
    [...each('resolution', '1k', '2k', '4k'), { ...o1, resolution: '2k' }],
    [...each('resolution', '8k', 4), { ...o1, resolution: '4k' }],
  ],
  [
    'aspect_ratio',
    each('aspect_ratio', ...ratios, 'auto'),
    each('aspect_ratio', '16:10', 'AUTO', 1),
  ],
  [
    'result_type',
    [...each('result_type', 'single', 'series'), { ...o1, result_type: 'single' }],
    [...each('result_type', 'both', 1), { ...o1, result_type: 'series' }],
  ],
  [
    'series_amount',
    each('series_amount', 2, 9, 'auto', null),
    each('series_amount', 1, 10, 2.5, '2'),
  ],
]

const wordFor = (field: string, fields: object): string => {
  if (field === 'resolution') return 'invalid_resolution'
  const { image_list: images, element_list: elements } = fields as Record<string, unknown>
  const count = [images, elements].flatMap((each) => (Array.isArray(each) ? each : [])).length
  return count > 10 ? 'too_many_images' : 'invalid_request'
}

describe.each([
  [generations, plainRows],
  [omniImage, omniRows],
])('%s', (path, rows) => {
  test.each(rows.map(([field, good, bad]) => ({ field, good, bad })))(
    '$field',
    async ({ field, good, bad }) => {
      for (const fields of good) {
        app.script.asked = []
        await taken(path, fields)
      }
      app.script.asked = []
      for (const fields of bad) {
        await refused(path, fields, 1201, wordFor(field, fields), field)
      }
    },
  )
})

describe('models', () => {
  const onGenerations = ['image-o1', 'v1', 'v1-5', 'v2', 'v2-new', 'v2-1', 'v3']

  test.each(onGenerations)('imgvendor-%s is drawn by on the generations path', async (name) => {
    await taken(generations, { model_name: `imgvendor-${name}` })
  })

  test.each(['v3-omni', 'image-o1'])('imgvendor-%s is drawn by on the omni path', async (name) => {
    const { native } = await taken(omniImage, { model_name: `imgvendor-${name}` })
    expect(native?.path).toBe('omni-image')
  })

  test.each([
    [generations, 'imgvendor-v3-omni'],
    [generations, 'imgvendor-v2-5-turbo'],
    [generations, 'imga-plus'],
    ...onGenerations
      .filter((name) => name !== 'image-o1')
      .map((name) => [omniImage, `imgvendor-${name}`]),
    [omniImage, 'imgvendor-v2-5-turbo'],
  ] as [string, string][])('%s does not take %s', async (path, name) => {
    await refused(path, { model_name: name }, 1201, 'model_not_supported', 'model_name')
  })

  test.each([[{}], [{ n: 99 }], [{ prompt: '' }], [{ aspect_ratio: 'x' }]])(
    'that nobody serves are not there, whatever else is wrong: %j',
    async (more) => {
      const fields = { model_name: 'vfa-2.7-t2v', ...more }
      await refused(generations, fields, 1203, 'model_not_found', 'model_name')
    },
  )

  test.each(['negative_prompt', 'image_fidelity', 'human_fidelity', 'image_list', 'series_amount'])(
    'image-o1 has no use for %s and says so',
    async (name) => {
      const value = name === 'negative_prompt' ? 'rain' : 0.5
      const fields = { model_name: 'imgvendor-image-o1', [name]: value }
      await refused(generations, fields, 1201, 'invalid_request', name)
    },
  )

  test('one that nobody knows is not found', async () => {
    await refused(
      generations,
      { model_name: 'imgvendor-v9' },
      1203,
      'model_not_found',
      'model_name',
    )
    const long = 'x'.repeat(257)
    await refused(generations, { model_name: long }, 1203, 'model_not_found', 'model_name')
  })

  test('it is a text, and not called model', async () => {
    for (const name of ['', 5, []]) {
      await refused(generations, { model_name: name }, 1201, 'invalid_request', 'model_name')
    }
    await refused(generations, { model: 'imgvendor-v3' }, 1201, 'invalid_request', 'model')
  })

  test.each([
    [generations, 'imgvendor-v1'],
    [omniImage, 'imgvendor-v3-omni'],
  ])('at %s it is %s when nobody says', async (path, name) => {
    const { body } = await send(path, { model_name: null })
    expect((await app.row(body.data.task_id)).model).toBe(name)
  })
})

test('an image may have 10 MB and not more', async () => {
  const large = 'A'.repeat(Math.ceil((10 * 1024 * 1024) / 3) * 4 + 4)
  const parsed = (image: string) => parseImageTask({ prompt: 'x', image }, 'generations')
  expect(await parsed(large)).toMatchObject({
    code: 'request_too_large',
    extras: { param: 'image' },
  })
  expect(await parsed(large.slice(4))).toMatchObject({ kind: 'image' })
})
