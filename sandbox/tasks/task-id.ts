// An id that carries the plan of its task, so that every sandbox of this version can answer for it:
// one started later, or that of another gateway. What happens to a task afterwards is not in it,
// nor whose it is.
import type { Protocol } from '../../src/contract/catalog.ts'
import { type Directives, readDirectives } from '../http/directives.ts'
import { fromLetters, PlanReader, PlanWriter, toLetters } from './plan-bytes.ts'

/** What a protocol asks a task for. */
export interface TaskInput {
  /** Only the key that created a task can see it; empty when it is no longer known. */
  key: string
  /** The call that created it. */
  callId: string
  model: string
  /** Of video; 0 for images. */
  seconds: number
  /** 720p or 1080p; for images the size in the words of the protocol. */
  resolution: string
  /** How many images a success has; absent for a video. */
  images?: number
  directives: Directives
}

/** What an id tells of an input besides its directives. */
export type CarriedInput<Input extends TaskInput> = Input extends TaskInput
  ? Omit<Input, 'key' | 'callId' | 'directives'>
  : never

/** The format of a protocol's ids, and what they carry. */
export interface TaskIds<Input extends TaskInput> {
  protocol: Protocol
  /** The id around the letters. */
  wrap(letters: string, createdMs: number): string
  /** The letters within an id; of anything else, whatever it likes. */
  unwrap(id: string): string
  write(input: Input, plan: PlanWriter): void
  /** Undefined when it makes no sense. */
  read(plan: PlanReader): CarriedInput<Input> | undefined
}

export interface Schedule {
  createdMs: number
  takesMs: number
}

/** To be raised with every change of what is carried: older ids are unknown then. */
const edition = 2
const sumBytes = 4
/** With more, such as the name of a model without end, the plan stays with who made it. */
const maxPlanBytes = 100
const maxIdLetters = 200
const randomBytes = 16

/** No two may share a serial within a millisecond. */
export function newTaskId<Input extends TaskInput>(
  ids: TaskIds<Input>,
  input: Input,
  { createdMs, takesMs }: Schedule,
  serial: number,
): string {
  const plan = new PlanWriter()
  plan.whole(serial)
  plan.whole(createdMs)
  plan.whole(takesMs)
  writeDirectives(input.directives, plan)
  ids.write(input, plan)
  const bytes = plan.done()
  const carried =
    bytes.length > maxPlanBytes
      ? crypto.getRandomValues(new Uint8Array(randomBytes))
      : Buffer.concat([sumOf(ids.protocol, bytes), bytes])
  return ids.wrap(toLetters(carried), createdMs)
}

/** Undefined when no sandbox of this version gave it out. */
export function readTaskId<Input extends TaskInput>(
  ids: TaskIds<Input>,
  id: string,
): (Schedule & { directives: Directives; carried: CarriedInput<Input> }) | undefined {
  if (id.length > maxIdLetters) return undefined
  const all = fromLetters(ids.unwrap(id))
  const bytes = all?.subarray(sumBytes)
  if (all === undefined || bytes === undefined) return undefined
  if (!sumOf(ids.protocol, bytes).equals(all.subarray(0, sumBytes))) return undefined
  const plan = new PlanReader(bytes)
  plan.whole()
  const schedule = { createdMs: plan.whole(), takesMs: plan.whole() }
  const directives = readPlannedDirectives(plan)
  const carried = ids.read(plan)
  // Written again it must be the same, to the last dash.
  if (carried === undefined || ids.wrap(toLetters(all), schedule.createdMs) !== id) return undefined
  return { ...schedule, directives, carried }
}

const sumOf = (protocol: Protocol, bytes: Uint8Array): Buffer =>
  new Bun.CryptoHasher('sha256')
    .update(`sandbox task ${edition} ${protocol}\n`)
    .update(bytes)
    .digest()
    .subarray(0, sumBytes)

const flags = { fail: 1, isPolicy: 2, flip: 4, vanish: 8, noUsage: 16, noOutput: 32, images: 64 }
/** Below any status. */
const pollWords = [undefined, 'hang', 'leak'] as const

/** Those that are about what comes after the create. */
function writeDirectives(directives: Directives, plan: PlanWriter): void {
  const { fail, flip, vanish, noUsage, noOutput, images, poll } = directives
  const set = {
    fail: fail !== undefined,
    isPolicy: fail === 'content_policy',
    flip,
    vanish,
    noUsage,
    noOutput,
    images: images !== undefined,
  }
  const names = Object.keys(flags) as (keyof typeof flags)[]
  plan.whole(names.reduce((sum, name) => sum + (set[name] ? flags[name] : 0), 0))
  plan.whole(typeof poll === 'number' ? poll : pollWords.indexOf(poll))
  if (images !== undefined) plan.whole(images)
}

function readPlannedDirectives(plan: PlanReader): Directives {
  const bits = plan.whole()
  const has = (flag: number): boolean => (bits & flag) !== 0
  const number = plan.whole()
  const poll = number < pollWords.length ? pollWords[number] : number
  return {
    ...readDirectives({}),
    flip: has(flags.flip),
    vanish: has(flags.vanish),
    noUsage: has(flags.noUsage),
    noOutput: has(flags.noOutput),
    ...(has(flags.fail) && { fail: has(flags.isPolicy) ? 'content_policy' : '' }),
    ...(poll !== undefined && { poll }),
    ...(has(flags.images) && { images: plan.whole() }),
  }
}
