// Signed links to finished files, for players and callback receivers, which have no token: a link
// gives access to one file until it expires, and to nothing else.

import { timingSafeEqual } from 'node:crypto'
import type { FileLink, LinkTo } from '../../contract/caller-api.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { expiryOf, type Task } from '../../contract/task.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { findTaskRow } from '../../store/tasks/tasks.ts'
import { type KeptDeps, withTrueExpiry } from './kept-media.ts'

export interface LinkDeps {
  readonly seal: Seal
  /** Base of every link that is given out. */
  readonly publicUrl: string
}

export function linksOf(deps: LinkDeps): LinkTo {
  const base = deps.publicUrl.replace(/\/+$/, '')
  return (task, part) => {
    const until = Math.floor(expiryOf(task, task.media[part] ?? {}) / 1_000)
    return `${base}/files/${task.id}/${part}?until=${until}&sig=${signature(deps, task.id, part, until)}`
  }
}

const signature = ({ seal }: LinkDeps, taskId: string, part: number, until: number): string =>
  seal.sign(`file ${taskId} ${part} ${until}`)

/** The task of a link; undefined for a forged one. */
export async function followLink(
  deps: LinkDeps & KeptDeps,
  link: FileLink,
): Promise<Task | Refusal> {
  const { taskId, part, until, sig } = link
  if (!sameText(sig, signature(deps, taskId, part, until))) return noFile
  if (until * 1_000 <= deps.clock.nowMs()) return refuse('video_expired', 'this link has expired')
  const task = await findTaskRow(deps.store.read, taskId)
  if (task === undefined || task.hidden || task.media[part] === undefined) return noFile
  return (await withTrueExpiry(deps, [task]))[0] ?? noFile
}

const noFile = refuse('file_not_found', 'there is no such file')

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
