// Renews the link of a result after the old one has stopped working: asks the upstream once, and
// uses its reply only while the task is the same success. State and money do not change.
import type { OutputMedia, Task } from '../../contract/task.ts'
import type { Store } from '../../store/index.ts'
import { findTaskRow, putTaskMedia } from '../../store/tasks/tasks.ts'
import type { BaseDeps } from '../base-deps.ts'
import { type AskDeps, askUpstream, originOf, pollTargetFor } from '../tasks/task-upstream.ts'

export type RefreshDeps = BaseDeps & AskDeps

/** Players request many times in a row; the upstream is asked once in this time. */
const inVainMs = 60_000
const maxRemembered = 10_000

interface Asked {
  answer: Promise<Task | undefined>
  untilMs: number
}

const askedBy = new WeakMap<Store, Map<string, Asked>>()

/** The task with addresses that may work; undefined when the upstream has none, or had none lately. */
export async function refreshMedia(deps: RefreshDeps, task: Task): Promise<Task | undefined> {
  const asked = askedBy.get(deps.store) ?? new Map<string, Asked>()
  askedBy.set(deps.store, asked)
  const nowMs = deps.clock.nowMs()
  const running = asked.get(task.id)
  if (running !== undefined && running.untilMs > nowMs) return running.answer
  const answer = findFresh(deps, task)
  asked.delete(task.id)
  asked.set(task.id, { answer, untilMs: nowMs + inVainMs })
  if (asked.size > maxRemembered) asked.delete(asked.keys().next().value!)
  try {
    const fresh = await answer
    // The row has it now; when that one stops working too, the upstream may be asked again.
    if (fresh !== undefined) asked.delete(task.id)
    return fresh
  } catch (error) {
    asked.delete(task.id)
    throw error
  }
}

async function findFresh(deps: RefreshDeps, task: Task): Promise<Task | undefined> {
  const origin = originOf(deps, task)
  const pollTarget = pollTargetFor(deps, task)
  const { upstreamId } = task
  if (origin === undefined || pollTarget === undefined || upstreamId === undefined) return undefined
  const checked = await askUpstream(deps, task, origin, (upstream, stop) =>
    pollTarget.check(upstreamId, upstream, stop),
  )
  if (checked.kind !== 'report' || checked.report.state !== 'succeeded') {
    const said = checked.kind === 'report' ? checked.report.state : checked.error.code
    deps.log.info('expired result address not renewed', { task_id: task.id, said })
    return undefined
  }
  const { media } = checked.report
  return deps.store.tx(async (tx) => {
    const row = await findTaskRow(tx, task.id)
    if (row?.state !== 'succeeded' || row.upstreamId !== task.upstreamId) return undefined
    const fresh = { ...row, media: freshened(row.media, media) }
    return (await putTaskMedia(tx, fresh)) ? fresh : undefined
  })
}

/** Matched in order: the first video for the first video, and so on. */
function freshened(old: readonly OutputMedia[], renewed: readonly OutputMedia[]): OutputMedia[] {
  const left = [...renewed]
  return old.map((file) => {
    const at = left.findIndex(({ kind }) => kind === file.kind)
    return at === -1 ? file : left.splice(at, 1)[0]!
  })
}
