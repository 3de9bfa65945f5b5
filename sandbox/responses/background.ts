// Responses that are made in the background: kept in memory for the key that asked, queued first, then in
// progress, then over, unless they are cancelled or deleted.
import { directedFault } from '../http/directed-fault.ts'
import { asObject, invalid, isFault, type Json } from '../http/fields.ts'
import { type Answer, type Call, type Fault, jsonAnswer } from '../protocol.ts'
import type { ListedTask, LoggedCreate, SandboxTaskState } from '../tasks/task-memory.ts'
import { answerText, failureOf } from '../text/answer-text.ts'
import type { PromptCache } from '../text/prompt.ts'
import type { Memory } from './memory.ts'

interface Job {
  id: string
  callId: string
  model: string
  createdMs: number
  startsMs: number
  endsMs: number
  cancelledMs?: number
  /** As it is when it is over. */
  final: Json
  failure: Fault | undefined
  poll: Call['directives']['poll']
  vanish: boolean
  polls: number
}

const maxJobs = 10_000
const queuedShare = 1 / 5
const maxTroubledPolls = 2

const words = {
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<SandboxTaskState, string>

/** Whether a request asks for it. */
export const isBackground = (fields: Json): boolean => fields['background'] === true

export class BackgroundResponses {
  readonly #jobs = new Map<string, Job>()
  readonly #cache: PromptCache
  readonly #memory: Memory
  readonly #clock: { taskSeconds: number; now: () => number }

  constructor(
    cache: PromptCache,
    memory: Memory,
    clock: { taskSeconds: number; now: () => number },
  ) {
    this.#cache = cache
    this.#memory = memory
    this.#clock = clock
  }

  create(call: Call): Answer {
    const { fields, directives, key } = call
    if (fields['store'] === false) {
      return fault(invalid('background', "Background mode requires 'store' to be true."))
    }
    if (fields['stream'] === true) {
      return fault(invalid('stream', 'The sandbox does not stream background responses.'))
    }
    const { fail: _, ...sound } = directives
    const style = this.#memory.styleFor(key)
    const answer = answerText({ ...call, directives: sound }, this.#cache, style)
    if (answer.kind !== 'whole') return answer
    const final = asObject(JSON.parse(String(answer.body)))
    const id = `resp_${crypto.randomUUID().replaceAll('-', '')}`
    this.#memory.rename(key, String(final['id']), id)
    const takesMs = directives.delayMs > 0 ? directives.delayMs : this.#clock.taskSeconds * 1000
    const createdMs = this.#clock.now()
    const job: Job = {
      id,
      callId: call.id,
      model: String(fields['model']),
      createdMs,
      startsMs: createdMs + takesMs * queuedShare,
      endsMs: createdMs + takesMs,
      final: { ...final, id, background: true },
      failure: failureOf(directives),
      poll: directives.poll,
      vanish: directives.vanish,
      polls: 0,
    }
    this.#jobs.set(nameOf(key, id), job)
    if (this.#jobs.size > maxJobs) this.#jobs.delete(this.#jobs.keys().next().value!)
    return jsonAnswer(this.#view(job))
  }

  read({ key, params }: Call): Answer {
    const job = this.#find(key, params['id'])
    if (isFault(job)) return fault(job)
    job.polls++
    if (job.poll === undefined || job.polls > maxTroubledPolls) return jsonAnswer(this.#view(job))
    if (job.poll === 'hang') return { kind: 'no-reply' }
    const asked = job.poll === 'leak' ? { leak: true } : { leak: false, status: job.poll }
    return fault(directedFault(asked, key)!)
  }

  /** One that is over stays as it is. */
  cancel({ key, params }: Call): Answer {
    const job = this.#find(key, params['id'])
    if (isFault(job)) return fault(job)
    const state = this.#stateOf(job)
    if (state === 'queued' || state === 'running') job.cancelledMs = this.#clock.now()
    return jsonAnswer(this.#view(job))
  }

  remove({ key, params }: Call): Answer {
    const job = this.#find(key, params['id'])
    if (isFault(job)) return fault(job)
    this.#jobs.delete(nameOf(key, job.id))
    return jsonAnswer({ id: job.id, object: 'response', deleted: true })
  }

  list(): ListedTask[] {
    return [...this.#jobs.values()].map((job) => ({
      id: job.id,
      model: job.model,
      state: this.#stateOf(job),
      seconds: 0,
      resolution: '',
      created_ms: job.createdMs,
      polls: job.polls,
    }))
  }

  annotate(call: LoggedCreate): LoggedCreate {
    const job = [...this.#jobs.values()].find(({ callId }) => callId === call.id)
    return job === undefined ? call : { ...call, task_id: job.id, state: this.#stateOf(job) }
  }

  #find(key: string, id = ''): Job | Fault {
    const job = this.#jobs.get(nameOf(key, id))
    const isGone = job?.vanish === true && this.#clock.now() >= job.startsMs
    if (job !== undefined && !isGone) return job
    return { ...invalid('response_id', `Response with id '${id}' not found.`), status: 404 }
  }

  #stateOf({ cancelledMs, startsMs, endsMs, failure }: Job): SandboxTaskState {
    const now = this.#clock.now()
    if (cancelledMs !== undefined) return 'cancelled'
    if (now < startsMs) return 'queued'
    if (now < endsMs) return 'running'
    return failure === undefined ? 'succeeded' : 'failed'
  }

  #view(job: Job): Json {
    const state = this.#stateOf(job)
    if (state === 'succeeded') return job.final
    const open = { ...job.final, status: words[state], completed_at: null, output: [], usage: null }
    if (state !== 'failed') return { ...open, incomplete_details: null }
    const isPolicy = job.failure?.reason === 'content_policy'
    const code = isPolicy ? 'content_policy_violation' : 'server_error'
    return { ...open, incomplete_details: null, error: { code, message: job.failure?.message } }
  }
}

const nameOf = (key: string, id: string): string => `${key} ${id}`
const fault = (of: Fault): Answer => ({ kind: 'fault', fault: of })
