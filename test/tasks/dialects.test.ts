// One task, every dialect, as a table: whatever state a task is in and wherever it was created, each
// dialect shows it, lists it, cancels it and hands over its film in its own words, to its owner only.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { taskStates } from '../../src/contract/task.ts'
import { dialectWords, type TaskDialect, taskDialects } from '../faults/tasks/dialects.ts'
import {
  sceneOf,
  shortFilm,
  soundScript,
  type TaskCase,
  type TaskFault,
  taskCasesOf,
  taskWays,
} from '../faults/tasks/fault.ts'
import { openTaskStage, type TaskStage } from '../faults/tasks/stage.ts'
import type { Reply } from '../faults/tasks/upstream.ts'
import { until } from '../support/read.ts'
import {
  askAs,
  askGateway,
  type Brought,
  type Deleting,
  deleting,
  exists,
  expectedOf,
  native,
  type Row,
  rows,
  type Says,
} from '../support/tasks/dialect-rows.ts'

const strangerToken = 'sk-stranger-0123456789abcdefghijkl'
const cases = rows.flatMap((row) =>
  deleting.map((by) => ({ row, by, fault: { row: row.state, name: by } as TaskFault })),
)
/** One upstream case for each row, way and DELETE. */
const all = taskCasesOf(cases.map(({ fault }) => fault)).map((made) => {
  const { row, by } = cases.find(({ fault }) => fault === made.fault)!
  return { made, row: expectedOf(row, made), by }
})

let stage: TaskStage
beforeAll(async () => {
  stage = await openTaskStage('sqlite', (upstream) => ({
    accounts: [
      { name: 'stranger', balance: '1.00' },
      ...all.map(({ made }) => ({ name: made.account, balance: '10.00' })),
    ],
    tokens: [
      { account: 'stranger', name: 'test', token: strangerToken },
      ...all.map(({ made: { account, token } }) => ({ account, name: 'test', token })),
    ],
    channels: all.map(({ made: { name, model, wire } }) => ({
      name,
      keys: ['upk-of-the-dialects-0123456789'],
      protocols: { [wire.name]: `${upstream}/${name}${wire.basePath}` },
      models: { [model]: '*' },
    })),
    models: all.map(({ made: { model, wire, dialect } }) => ({
      name: model,
      kind: 'video',
      interfaces: [dialect],
      protocols: [wire.name],
    })),
    prices: all.map(({ made: { model, wire } }) =>
      wire.name === 'arkvendor'
        ? { model, unit: 'video_token', per_million: '10.00' }
        : { model, unit: 'video_second', per_second: { '720p': '1.00', '1080p': '2.00' } },
    ),
  }))
})
afterAll(() => stage.close())

type Fields = Record<string, unknown> & { error?: { code: string; message: string } }
const fieldsOf = async (response: Response): Promise<Fields> => (await response.json()) as Fields

/** Creates it in its dialect and brings it into its state. */
async function bring(
  made: TaskCase,
  row: Row,
  held: PromiseWithResolvers<Reply>,
): Promise<Brought> {
  const scene = sceneOf(made, stage)
  const around = { film: scene.film, held: held.promise }
  const script = { ...soundScript(scene), ...row.script?.(made, around) }
  stage.upstream.play(made.name, made.wire, script)
  const { path, body } = dialectWords[made.dialect].create(made.model, `a film of ${made.name}`)
  const it: Brought = { made, stage, id: '' }
  const answer = askGateway(it, 'POST', path, body)
  if (row.state === 'accepted') answer.catch(() => {})
  else await answer
  it.id = await until('the task to be there', async () => {
    const list = await stage.admin('GET', `/tasks?account=${made.account}`)
    return (list.items as { id: string }[])[0]?.id
  })
  await row.next?.(it)
  const { state } = await stage.admin('GET', `/tasks/${it.id}`)
  const meant = { hidden: 'succeeded', expired: 'succeeded' }[row.state] ?? row.state
  expect(state).toBe(meant)
  return it
}

/** Every name a task has in a dialect. */
function namesOf(dialect: TaskDialect, { id, made }: Brought, row: Row): string[] {
  const plain = id.replace('video_', '')
  if (dialect === 'videos') return [`/v1/videos/${id}`]
  if (dialect === 'vendorg') {
    return [plain, id].flatMap((each) => [
      `/vendorg/v1beta/operations/${each}`,
      `/vendorg/v1/models/${made.model}/operations/${each}`,
    ])
  }
  const isNamed = !['accepted', 'unknown'].includes(row.state)
  const upstreamId = encodeURIComponent(made.wire.idFor(made.name))
  return [`${native}/${id}`, ...(isNamed ? [`${native}/${upstreamId}`] : [])]
}

const filesOf = ({ id }: Brought): string[] => [
  `/v1/videos/${id}/content`,
  `/vendorg/v1beta/files/${id.replace('video_', '')}:download?alt=media`,
]

async function expectSays(answer: Response, [status, code]: Says): Promise<void> {
  const error = answer.ok ? undefined : (await fieldsOf(answer)).error
  expect([answer.status, ...(code === undefined ? [] : [error?.code])]).toEqual(
    code === undefined ? [status] : [status, code],
  )
}

async function expectShown(it: Brought, row: Row): Promise<void> {
  for (const dialect of taskDialects) {
    for (const path of namesOf(dialect, it, row)) {
      const answer = await askGateway(it, 'GET', path)
      const word = row[dialect]
      expect([path, answer.status]).toEqual([path, word === null ? 404 : 200])
      if (word !== null) expect(wordIn(dialect, await fieldsOf(answer))).toBe(word)
    }
  }
}

function wordIn(dialect: TaskDialect, body: Fields): unknown {
  if (dialect !== 'vendorg') return body['status']
  const { state } = dialectWords.vendorg.seen(body)
  return state === 'succeeded' ? 'done' : state
}

async function expectListed(it: Brought, row: Row): Promise<void> {
  const videos = await fieldsOf(await askGateway(it, 'GET', '/v1/videos'))
  const shown = (videos['data'] as Fields[]).map(({ id, status }) => [id, status])
  expect(shown).toEqual(row.videos === null ? [] : [[it.id, row.videos]])
  const own = it.made.wire.name === 'arkvendor'
  for (const [query, isThere] of [
    ['', own],
    [`?filter.task_ids=${it.id}`, true],
    [`?filter.task_ids=${it.id}&filter.status=${row.arkvendor ?? 'succeeded'}`, true],
    [`?filter.task_ids=${it.id}&filter.model=${it.made.model}`, true],
    [`?filter.task_ids=${it.id}&filter.model=another`, false],
  ] as const) {
    const body = await fieldsOf(await askGateway(it, 'GET', native + query))
    const items = (body['items'] as Fields[]).map((item) => [item['platform_id'], item['status']])
    const meant = isThere && row.arkvendor !== null ? [[it.id, row.arkvendor]] : []
    expect([query, items, body['total']]).toEqual([query, meant, meant.length])
  }
}

/** Whatever is asked, a stranger learns what it would learn of an id that nobody has. */
async function expectInvisible(it: Brought, row: Row): Promise<void> {
  const nobody = (path: string) =>
    path.replaceAll(/[0-9a-f]{32}|(?<=tasks\/)(?!video_)[^/]+$/g, (id) =>
      '0'.repeat(decodeURIComponent(id).length),
    )
  const paths = [...taskDialects.flatMap((each) => namesOf(each, it, row)), ...filesOf(it)]
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const theirs = await told(await askAs(strangerToken, stage.url, method, path))
      const none = await told(await askAs(strangerToken, stage.url, method, nobody(path)))
      const masked = theirs.replaceAll(idsIn(path), (id) => '0'.repeat(id.length))
      expect([method, path, masked]).toEqual([method, path, none])
      expect([method, path, /^4\d\d /.test(none)]).toEqual([method, path, true])
    }
  }
  const lists = ['/v1/videos', `${native}?filter.task_ids=${it.id}`]
  for (const path of lists) {
    const text = await (await askAs(strangerToken, stage.url, 'GET', path)).text()
    expect(text).not.toContain(it.id)
  }
}

const idsIn = (path: string): RegExp => {
  const id =
    /[0-9a-f]{32}/.exec(path)?.[0] ?? decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
  return new RegExp(id.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'g')
}

/** Status, headers and body, but for the time and the name of the request. */
async function told(answer: Response): Promise<string> {
  const headers = [...answer.headers]
    .filter(([name]) => name !== 'date')
    .map(String)
    .sort()
  const text = [answer.status, ...headers, await answer.text()].join(' ')
  return text.replaceAll(/req_[0-9a-f]{32}/g, 'REQ')
}

async function expectFiles(it: Brought, row: Row): Promise<void> {
  for (const path of filesOf(it)) {
    const answer = await askGateway(it, 'GET', path)
    if (row.file[0] === 200) {
      expect([path, answer.headers.get('content-type')]).toEqual([path, 'video/mp4'])
      expect(shortFilm.equals(await answer.bytes())).toBe(true)
    } else await expectSays(answer, row.file)
  }
}

async function expectDeleted(it: Brought, row: Row, by: Deleting): Promise<void> {
  const [says, word] = row.deleted[by]
  await expectSays(await askGateway(it, 'DELETE', dialectWords[by].cancelAt!(it.id)), says)
  const after = await askGateway(it, 'GET', `/v1/videos/${it.id}`)
  expect(after.status).toBe(word === null ? 404 : 200)
  if (word !== null) expect((await fieldsOf(after))['status']).toBe(word)
  for (const dialect of taskDialects) {
    const seen = await askGateway(it, 'GET', dialectWords[dialect].at(it.id))
    expect([dialect, seen.status]).toEqual([dialect, after.status])
    if (word !== 'cancelled') continue
    const { state } = dialectWords[dialect].seen(await fieldsOf(seen))
    expect([dialect, state]).toEqual([dialect, 'cancelled'])
  }
}

describe.each(rows.map((row): [string, Row] => [row.state, row]))('a task that is %s', (state) => {
  const own = all.filter(({ row, made }) => row.state === state && exists(row, made))
  test.each(own.map((each): [string, (typeof own)[number]] => [titleOf(each), each]))(
    '%s',
    async (_, { made, row, by }) => {
      const held = Promise.withResolvers<Reply>()
      try {
        const it = await bring(made, row, held)
        await expectShown(it, row)
        await expectListed(it, row)
        await expectFiles(it, row)
        await expectInvisible(it, row)
        // Nothing that a stranger did has changed it.
        await expectShown(it, row)
        await expectDeleted(it, row, by)
      } finally {
        await endAll(made, held)
      }
    },
  )
})

/** The next case must find nobody else's work. */
async function endAll(made: TaskCase, held: PromiseWithResolvers<Reply>): Promise<void> {
  held.resolve({ status: 500 })
  await until('the creates to be answered', () => stage.engine.load.running === 0 || undefined)
  stage.upstream.change(made.name, {
    check: () => ({ body: made.wire.failed(made.wire.idFor(made.name), 'enough') }),
  })
  for (let i = 0; i < 5 && (await stage.isBusy()); i++) await stage.poll(48 * 3_600_000)
  expect(await stage.isBusy()).toBe(false)
}

function titleOf({ made: { wire, dialect }, by }: (typeof all)[number]): string {
  return `made by ${wire.name} for ${dialect} is the same in every dialect; DELETE in ${by}`
}

test('the table has every state there is, and every way to create', () => {
  const states = rows.map(({ state }) => state)
  expect(states.toSorted()).toEqual([...taskStates, 'hidden', 'expired'].toSorted())
  const ways = new Set(all.map(({ made }) => `${made.wire.name} ${made.dialect}`))
  expect(ways.size).toBe(taskWays.length)
})

test('a failure has one code and one text in every dialect', async () => {
  const { made } = all.find(({ row, by }) => row.state === 'failed' && by === 'arkvendor')!
  const { items } = await stage.admin('GET', `/tasks?account=${made.account}`)
  const it: Brought = { made, stage, id: (items as { id: string }[])[0]!.id }
  for (const dialect of taskDialects) {
    const { error } = await fieldsOf(await askGateway(it, 'GET', dialectWords[dialect].at(it.id)))
    expect(error).toMatchObject({
      [dialect === 'vendorg' ? 'reason' : 'code']: 'upstream_error',
      message: 'the lens cap was on',
    })
  }
})
