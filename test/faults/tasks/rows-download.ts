// Faults of the file behind a finished task: addresses that lead astray, that have expired, and
// connections that break under it. None of them changes what was charged.
import { expect } from 'bun:test'
import type { Answer } from '../caller.ts'
import { canary, leak } from '../fault.ts'
import { noOutput } from './codes.ts'
import { longFilm, shortFilm, type TaskFault, type TaskRun, type TaskScene } from './fault.ts'
import { type AskedTask, filmReply, type Reply } from './upstream.ts'

const ending = { state: 'succeeded', pays: 'usual' } as const
const files = ['videos', 'vendorg'] as const

const codeOf = ({ text }: Answer): string =>
  (JSON.parse(text) as { error: { code: string } }).error.code

async function finish(run: TaskRun): Promise<void> {
  await run.create()
  await run.toEnd()
}

const done = ({ wire, id }: TaskScene, url: string): Reply => ({
  body: wire.done(id, { url, used: wire.usual.used }),
})

const to = (location: string): Reply => ({ status: 302, headers: { location } })

/** Where nobody may be sent; the trap listens on the one that could be reached. */
const forbidden: readonly [string, (trap: string) => string][] = [
  ['another loopback address', (trap) => `http://127.0.0.2:${trap}/film.mp4`],
  ['a number that is one', (trap) => `http://2130706434:${trap}/film.mp4`],
  ['an IPv6 form of it', (trap) => `http://[::ffff:127.0.0.2]:${trap}/film.mp4`],
  ['a metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
  ['a private network', () => 'http://10.0.0.1/film.mp4'],
  ['a file of this machine', () => 'file:///etc/passwd'],
]

const astray = (where: string, address: (trap: string) => string): TaskFault[] => [
  {
    row: 'F36',
    name: `the file redirects to ${where}`,
    script: ({ trap }) => ({ media: () => to(address(trap)) }),
    ending,
    async course(run) {
      await finish(run)
      for (const file of files) {
        const answer = await run.download(file)
        expect([file, answer.status]).toEqual([file, 502])
      }
    },
  },
  {
    row: 'F24',
    name: `the file is at ${where}`,
    script: (scene) => ({ check: () => done(scene, address(scene.trap)) }),
    // An address that is none is no result.
    ending: where.startsWith('a file') ? { state: 'failed', code: noOutput } : ending,
    async course(run) {
      await finish(run)
      if (where.startsWith('a file')) return
      expect((await run.download('videos')).status).toBe(502)
    },
  },
]

async function fetchWithoutKey(run: TaskRun): Promise<void> {
  await finish(run)
  for (const file of files) {
    const answer = await run.download(file)
    expect([file, answer.status, answer.body.equals(shortFilm)]).toEqual([file, 200, true])
  }
  const asked = run.stage.elsewhere.asked(run.case.name, 'media')
  expect(asked).toHaveLength(files.length)
  for (const { head } of asked) {
    expect(head).not.toContain(canary)
    expect(head).not.toMatch(/authorization|cookie|api-key/i)
  }
}

const redirectRows: TaskFault[] = [
  ...forbidden.flatMap(([where, at]) => astray(where, at)),
  {
    row: 'F36',
    name: 'the file redirects twice, and then to another loopback address',
    script: ({ film, trap }) => ({
      media: (n) => to(n % 3 === 0 ? `http://127.0.0.2:${trap}/x` : `${film}?hop=${n}`),
    }),
    ending,
    async course(run) {
      await finish(run)
      expect((await run.download('videos')).status).toBe(502)
    },
  },
  {
    row: 'F36',
    name: 'the file redirects for ever',
    script: ({ film }) => ({ media: (n) => to(`${film}?hop=${n}`) }),
    ending,
    async course(run) {
      await finish(run)
      expect((await run.download('videos')).status).toBe(502)
      expect(run.asked('media').length).toBeLessThanOrEqual(10)
    },
  },
  {
    row: 'F36',
    name: 'the file redirects to another origin: it is followed, without any credential',
    script: ({ elsewhere }) => ({
      media: (_, asked) =>
        asked.head.includes('?signed') ? filmReply(shortFilm, asked) : to(`${elsewhere}?signed=1`),
    }),
    ending,
    course: fetchWithoutKey,
  },
  {
    row: 'F36',
    name: 'the file is at another origin: it is fetched without any credential',
    script: (scene) => ({ check: () => done(scene, scene.elsewhere) }),
    ending,
    course: fetchWithoutKey,
  },
]

/** Answers as an object store does when a signature is too old. */
const tooOld = (status: number): Reply => ({ status, body: `<Error>${leak}</Error>` })

const expiredRows: TaskFault[] = [
  ...[403, 404, 410].map(
    (status): TaskFault => ({
      row: 'F37',
      name: `the file answers with ${status}, and the upstream has a fresh address`,
      script: (scene) => ({
        check: (n) => done(scene, n === 1 ? scene.film : `${scene.film}?fresh=1`),
        media: (_, asked) =>
          asked.head.split(' ')[1]!.includes('fresh')
            ? filmReply(shortFilm, asked)
            : tooOld(status),
      }),
      ending,
      async course(run) {
        await finish(run)
        const polls = run.asked('check').length
        for (const file of files) {
          const answer = await run.download(file)
          expect([file, answer.status, answer.body.equals(shortFilm)]).toEqual([file, 200, true])
        }
        expect(run.asked('check').length - polls).toBeLessThanOrEqual(files.length)
      },
    }),
  ),
  ...(
    [
      ['the same address', (scene) => done(scene, scene.film)],
      ['that it knows nothing of it', ({ wire }) => ({ status: 404, body: wire.error('none') })],
      ['that it has failed', ({ wire, id }) => ({ body: wire.failed(id, 'no') })],
      ['nothing', () => ({ reset: true })],
    ] as [string, (scene: TaskScene) => Reply][]
  ).map(
    ([says, reply]): TaskFault => ({
      row: 'F37',
      name: `the file has expired, and the upstream says ${says}`,
      script: (scene) => ({
        check: (n) => (n === 1 ? done(scene, scene.film) : reply(scene)),
        media: () => tooOld(403),
      }),
      ending,
      async course(run) {
        await finish(run)
        const polls = run.asked('check').length
        for (const file of files) {
          const answer = await run.download(file)
          expect([file, answer.status, codeOf(answer)]).toEqual([file, 410, 'video_expired'])
        }
        expect(run.asked('check').length - polls).toBeLessThanOrEqual(files.length)
        await run.see()
      },
    }),
  ),
]

const cutAt = (name: string, film: Buffer, at: number): TaskFault => ({
  row: 'F38',
  name: `the connection breaks ${name}, and the rest can be fetched`,
  script: () => ({
    media: (n: number, asked: AskedTask) => ({
      ...filmReply(film, asked),
      ...(n === 1 && { cutAt: at }),
    }),
  }),
  ending,
  async course(run) {
    await finish(run)
    const broken = await run.download('videos')
    // Nobody may take half a film for a whole one.
    if (broken.status === 200) expect(broken.whole).toBe(false)
    else expect([broken.status, broken.whole]).toEqual([502, true])
    const got = broken.status === 200 ? broken.body : Buffer.alloc(0)
    expect(film.subarray(0, got.length).equals(got)).toBe(true)
    const rest = await run.download('vendorg', `bytes=${got.length}-`)
    expect([rest.status, rest.whole]).toEqual([206, true])
    expect(Buffer.concat([got, rest.body]).equals(film)).toBe(true)
  },
})

const brokenRows: TaskFault[] = [
  cutAt('before the first byte of a short film', shortFilm, 0),
  cutAt('in the middle of a short film', shortFilm, shortFilm.length >> 1),
  cutAt('before the last byte of a short film', shortFilm, shortFilm.length - 1),
  cutAt('before the first byte of a long film', longFilm, 0),
  cutAt('in the middle of a long film', longFilm, longFilm.length >> 1),
  cutAt('before the last byte of a long film', longFilm, longFilm.length - 1),
]

export const downloadRows: readonly TaskFault[] = [...redirectRows, ...expiredRows, ...brokenRows]
