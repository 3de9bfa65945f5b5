// What a row of the table of task faults is made of, and one run of it: a caller on one connection
// who creates a task and looks at it in every dialect, while the clock is turned.
import { expect } from 'bun:test'
import { type Answer, type Caller, openCaller } from '../caller.ts'
import {
  agreed,
  dialectWords,
  type SeenState,
  type SeenTask,
  type TaskDialect,
  taskDialects,
} from './dialects.ts'
import type { TaskStage } from './stage.ts'
import { type AskedTask, filmReply, type TaskScript } from './upstream.ts'
import { type TaskProtocol, type TaskWire, taskWires } from './wire.ts'

/** Upstreams and the dialects in which their models can be asked for. */
export const taskWays: readonly [TaskProtocol, TaskDialect][] = [
  ['vf', 'videos'],
  ['arkvendor', 'arkvendor'],
  ['arkvendor', 'videos'],
  ['vendorg', 'vendorg'],
  ['vendorg', 'videos'],
]

/** What becomes of the task, and what its caller is told. */
export type TaskEnding =
  | { state: 'succeeded'; pays: 'usual' | 'requested' | 'most' | ((wire: TaskWire) => string) }
  | { state: 'failed'; code: string }
  | { state: 'cancelled' }
  /** There is an answer to the create that is no task, and none that was ever sent up runs on. */
  | { state: 'refused'; status: number; code: string; message?: RegExp }

export interface TaskFault {
  row: string
  name: string
  /** Left out: all of them. */
  protocols?: readonly TaskProtocol[]
  /** What the upstream does differently. */
  script?: (scene: TaskScene) => Partial<TaskScript>
  ending: TaskEnding | ((wire: TaskWire) => TaskEnding)
  /** What the caller does. Left out: creates it and looks until it is over. */
  course?: (run: TaskRun) => Promise<void>
  /** How many creates the upstream may have seen. Left out: one. */
  creates?: number
}

export interface TaskCase {
  title: string
  fault: TaskFault
  wire: TaskWire
  dialect: TaskDialect
  /** Its path at the upstream. */
  name: string
  model: string
  account: string
  token: string
}

export interface TaskScene {
  wire: TaskWire
  /** The upstream's id of the task, and that of another. */
  id: string
  otherId: string
  /** Where the film lies. */
  film: string
  /** The same at another origin. */
  elsewhere: string
  stage: TaskStage
  /** Port of the server nobody may ask. */
  trap: string
}

export const opening = '100.00'
export const shortFilm = Buffer.from(`\0\0\0\x18ftypisom${'film '.repeat(2_000)}`)
/** Above what the gateway gathers before it passes it on. */
export const longFilm = Buffer.alloc(4 * 1024 * 1024 + 70_001, 'a long film ')

export function taskCasesOf(faults: readonly TaskFault[]): TaskCase[] {
  const cases: TaskCase[] = []
  for (const fault of faults) {
    for (const [protocol, dialect] of taskWays) {
      if (fault.protocols !== undefined && !fault.protocols.includes(protocol)) continue
      const n = cases.length
      cases.push({
        title: `${fault.row} ${protocol}, asked for in ${dialect}: ${fault.name}`,
        fault,
        wire: taskWires[protocol],
        dialect,
        name: `c${n}`,
        model: `m-${n}-t2v`,
        account: `acct-${n}`,
        token: `sk-fault-${String(n).padStart(24, '0')}`,
      })
    }
  }
  return cases
}

export const sceneOf = ({ wire, name }: TaskCase, stage: TaskStage): TaskScene => ({
  wire,
  id: wire.idFor(name),
  otherId: wire.idFor(`${name}b`),
  film: `http://127.0.0.1:${stage.upstream.port}/${name}/media/film.mp4`,
  elsewhere: `http://127.0.0.1:${stage.elsewhere.port}/${name}/media/film.mp4`,
  stage,
  trap: String(stage.trapPort),
})

/** An upstream that does all it should: what a row does not change. */
export const soundScript = ({ wire, id, film }: TaskScene): TaskScript => ({
  create: () => ({ body: wire.created(id) }),
  check: () => ({ body: wire.done(id, { url: film, used: wire.usual.used }) }),
  cancel: () => ({ body: wire.granted ?? {} }),
  list: () => ({ body: wire.list?.() ?? {} }),
  media: (_, asked: AskedTask) => filmReply(shortFilm, asked),
})

const maxPolls = 60
const isOver = (state: SeenState): boolean => ['succeeded', 'failed', 'cancelled'].includes(state)

/** One case as it happens, with all that its caller was shown. */
export class TaskRun {
  readonly case: TaskCase
  readonly stage: TaskStage
  readonly scene: TaskScene
  readonly answers: Answer[] = []
  /** States as the caller saw them, oldest first. */
  readonly history: SeenTask[] = []
  /** The `video_…` id; empty until it is known. */
  id = ''
  created: Answer | undefined
  #caller: Caller | undefined

  constructor(made: TaskCase, stage: TaskStage) {
    this.case = made
    this.stage = stage
    this.scene = sceneOf(made, stage)
  }

  /** On one connection, as long as that lasts. */
  async ask(method: string, path: string, body?: object, more?: Record<string, string>) {
    if (this.#caller?.open !== true) this.#caller = await openCaller(this.stage.url)
    const answer = await this.#caller.ask(method, path, this.case.token, body, more)
    this.answers.push(answer)
    return answer
  }

  async create(): Promise<Answer> {
    const words = dialectWords[this.case.dialect]
    const { path, body } = words.create(this.case.model, `a film of ${this.case.name}`)
    const answer = await this.ask('POST', path, body)
    this.created ??= answer
    if (answer.status === 200 && this.id === '') this.id = words.idIn(JSON.parse(answer.text))
    return answer
  }

  /** What all dialects say of it; they must not contradict each other. */
  async see(): Promise<SeenTask> {
    let seen: SeenTask | undefined
    for (const dialect of taskDialects) {
      const { at, seen: read } = dialectWords[dialect]
      const answer = await this.ask('GET', at(this.id))
      expect([dialect, answer.status]).toEqual([dialect, 200])
      const told = read(JSON.parse(answer.text))
      const state = seen === undefined ? told.state : agreed(seen.state, told.state)
      if (state === undefined) throw new Error(`${dialect} says ${told.state}, not ${seen!.state}`)
      if (seen?.code !== undefined) expect([dialect, told.code]).toEqual([dialect, seen.code])
      seen = { ...seen, ...told, state }
    }
    if (seen === undefined) throw new Error('there is no dialect to read it in')
    this.history.push(seen)
    return seen
  }

  /** The clock goes on to the next look, and at least so far. */
  async poll(atMinMs?: number): Promise<SeenTask> {
    await this.stage.poll(atMinMs)
    return this.see()
  }

  async toEnd(atMinMs?: number): Promise<SeenTask> {
    for (let polls = 0; polls < maxPolls; polls++) {
      const seen = await this.poll(atMinMs)
      if (isOver(seen.state)) return seen
    }
    throw new Error(`${this.case.title}: not over after ${maxPolls} looks`)
  }

  cancel = (dialect: 'videos' | 'arkvendor'): Promise<Answer> =>
    this.ask('DELETE', dialectWords[dialect].cancelAt!(this.id))

  /** On a connection of its own. */
  async cancelApart(dialect: 'videos' | 'arkvendor'): Promise<Answer> {
    const caller = await openCaller(this.stage.url)
    const path = dialectWords[dialect].cancelAt!(this.id)
    const answer = await caller.ask('DELETE', path, this.case.token)
    caller.close()
    this.answers.push(answer)
    return answer
  }

  download = (dialect: 'videos' | 'vendorg', range?: string): Promise<Answer> =>
    this.ask('GET', dialectWords[dialect].fileAt!(this.id), undefined, range ? { range } : {})

  asked = (turn: AskedTask['turn']): AskedTask[] => this.stage.upstream.asked(this.case.name, turn)

  close(): void {
    this.#caller?.close()
  }
}

export async function usualCourse(run: TaskRun): Promise<void> {
  const { status } = await run.create()
  if (status !== 200) return
  await run.see()
  await run.toEnd()
}
