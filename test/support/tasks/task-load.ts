// The load of the task storm: videos created once each, in every dialect, at gateways that keep
// dying, looked at all the while, some of them cancelled, with text calls on the same account in
// between. Keeps what callers saw; knows nothing of books.
import { issue, type Outcome, pickKind } from '../load/crash-load.ts'
import type { Killing } from '../load/killing.ts'
import {
  cancel,
  create,
  dialectsOf,
  idIn,
  poll,
  type ReadDialect,
  type Sight,
  sightIn,
} from './task-dialects.ts'
import { type Input, neededFor, retake } from './task-wishes.ts'

export interface Home {
  url: string
  lives: Killing
}

export interface TaskLoad {
  /** All that was ever asked for, by prompt. */
  asked: Map<string, Input>
  /** What was asked for by the creates that were answered well, by the task's id. */
  created: Map<string, Input>
  /** Creates whose gateway died under them. */
  unanswered: Input[]
  /** Answers that nobody should get, as they stood. */
  strange: string[]
  polls: number
  cancels: number
  /** What callers were shown from the first end on, by id; two things are a broken promise. */
  ends: Map<string, Set<Sight>>
  calls: Outcome[]
}

interface Storm {
  homes: readonly Home[]
  load: TaskLoad
  random: () => number
}

export interface LoadOptions {
  homes: readonly Home[]
  inputs: readonly Input[]
  /** Lives over which the creates are spread. */
  lives: number
  random: () => number
}

const creators = 10
const pollTargets = 3
const callers = 2
const createPauseMs = 250
/** While a gateway waits for its point, work goes on more slowly, lest it run out. */
const slowPauseMs = 900
const pollPauseMs = 80
const callPauseMs = 250
/** About when the gateway takes its first look: the two may meet. */
const cancelAfterMs = { least: 900, most: 1_600 }
const gatePauseMs = 20

function newLoad(): TaskLoad {
  return {
    asked: new Map(),
    created: new Map(),
    unanswered: [],
    strange: [],
    polls: 0,
    cancels: 0,
    ends: new Map(),
    calls: [],
  }
}

/**
 * Resolves when every wish has been answered and every other caller has gone home. A create that got
 * no answer is never sent again; a new one takes its place.
 */
export async function runTaskLoad(options: LoadOptions): Promise<TaskLoad> {
  const { homes, inputs, random } = options
  const load = newLoad()
  const storm: Storm = { homes, load, random }
  let over = false
  const others = [
    ...Array.from({ length: pollTargets }, () => pollAround(storm, () => over)),
    ...Array.from({ length: callers }, (_, i) => keepCalling(storm, `call-${i}`, () => over)),
  ]
  const left = [...inputs]
  const cancels: Promise<void>[] = []
  const creator = async () => {
    while (left.length > 0) {
      const home = oneOf(homes, random)
      const point = homes.map(({ lives }) => lives.awaits()).find((each) => each !== undefined)
      if (point === undefined && inputs.length - left.length >= allowed(options)) {
        await Bun.sleep(gatePauseMs)
        continue
      }
      const { input, at } = takeFor(storm, left, home)
      if (input === undefined) continue
      await at.lives.after(at.lives.killed())
      // Not all at once when it comes up.
      await Bun.sleep(random() * (point === undefined ? createPauseMs : slowPauseMs))
      const made = await createOne(storm, at.url, input)
      if (made === 'not sent') left.unshift(input)
      else if (made === 'unanswered') left.push(retake(input, load.unanswered.length))
      else if (made !== undefined && input.fate === 'cancelled') {
        cancels.push(cancelOne(storm, at, made))
      }
    }
  }
  await Promise.all(Array.from({ length: creators }, creator))
  await Promise.all(cancels)
  over = true
  await Promise.all(others)
  return load
}

const oneOf = <T>(list: readonly T[], random: () => number): T =>
  list[Math.floor(random() * list.length)]!

/** Nobody runs ahead of the killing. */
function allowed({ homes, inputs, lives }: LoadOptions): number {
  const killed = homes.reduce((sum, home) => sum + home.lives.killed(), 0)
  return Math.ceil((inputs.length * (killed + 1)) / lives)
}

/** The next one; where a gateway waits for a point that only some pass, one of those, there. */
function takeFor({ homes }: Storm, left: Input[], home: Home): { input?: Input; at: Home } {
  for (const at of homes) {
    const point = at.lives.awaits()
    const fate = point && neededFor[point]
    const index = fate === undefined ? -1 : left.findIndex((input) => input.fate === fate)
    if (index >= 0) return { input: left.splice(index, 1)[0]!, at }
  }
  const input = left.shift()
  return input === undefined ? { at: home } : { input, at: home }
}

const expectedStatus = ({ fate }: Input): number =>
  fate === 'refused' ? 400 : fate === 'lost' ? 504 : 200

const foundNobody = ['ConnectionRefused', 'ECONNREFUSED']

/** The id it was given, if any. A create that found nobody may be sent later. */
async function createOne(
  { load }: Storm,
  url: string,
  input: Input,
): Promise<string | 'not sent' | 'unanswered' | undefined> {
  load.asked.set(input.prompt, input)
  try {
    const response = await create(url, input)
    const text = await response.text()
    if (response.status === 200 && expectedStatus(input) === 200) {
      const id = idIn(input.dialect, text)
      load.created.set(id, input)
      return id
    }
    if (isStarting(response)) return 'not sent'
    if (response.status !== expectedStatus(input)) {
      load.strange.push(`${input.fate} ${input.dialect} ${response.status} ${text}`)
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (foundNobody.includes(code)) return 'not sent'
    load.unanswered.push(input)
    return 'unanswered'
  }
  return undefined
}

/** A gateway that is not ready yet says so. */
const isStarting = ({ status }: Response): boolean => status === 503

async function cancelOne({ load, random }: Storm, home: Home, id: string): Promise<void> {
  const { least, most } = cancelAfterMs
  await Bun.sleep(least + random() * (most - least))
  await home.lives.after(home.lives.killed())
  try {
    const dialect = random() < 0.5 ? 'videos' : 'arkvendor'
    const response = await cancel(home.url, dialect, id)
    const text = await response.text()
    // On a slow machine the task may have ended first.
    if (response.ok || response.status === 409) load.cancels++
    else if (!isStarting(response)) {
      load.strange.push(`cancel ${response.status} ${text}`)
    }
  } catch {
    // The gateway died under it, or was not there. It is not asked again: a second time would put away what the first has ended.
  }
}

async function pollAround(storm: Storm, over: () => boolean): Promise<void> {
  const { homes, load, random } = storm
  while (!over()) {
    const ids = [...load.created.keys()]
    if (ids.length > 0) {
      const id = oneOf(ids, random)
      const dialect = oneOf(dialectsOf(id), random)
      await pollAtOne(load, oneOf(homes, random).url, dialect, id)
    }
    await Bun.sleep(pollPauseMs)
  }
}

export async function pollAtOne(
  load: TaskLoad,
  url: string,
  dialect: ReadDialect,
  id: string,
): Promise<void> {
  const wasOver = load.ends.has(id)
  try {
    const response = await poll(url, dialect, id)
    const text = await response.text()
    if (isStarting(response)) return
    if (response.status !== 200) {
      load.strange.push(`look ${dialect} ${id} ${response.status} ${text}`)
      return
    }
    load.polls++
    const sight = sightIn(dialect, text)
    if (sight !== 'live' || wasOver) load.ends.set(id, (load.ends.get(id) ?? new Set()).add(sight))
  } catch {
    // As above: the next look will do.
  }
}

async function keepCalling(
  { homes, load, random }: Storm,
  name: string,
  over: () => boolean,
): Promise<void> {
  for (let number = 0; !over(); number++) {
    const { url, lives } = oneOf(homes, random)
    await Promise.race([lives.after(lives.killed()), Bun.sleep(1_000)])
    load.calls.push(await issue(url, `${name}-${number}`, pickKind(random)))
    await Bun.sleep(random() * callPauseMs)
  }
}
