// One attempt to deliver a callback: built from the row as it is now, signed anew, sent once.
// Neither schedules the next attempt nor stores anything.
import type { Task } from '../../contract/task.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import type { EgressRules } from '../../lib/net/address-guard.ts'
import type { Posted, PostOptions } from '../../lib/net/guarded-post.ts'
import { signedHeaders } from '../../lib/net/webhook.ts'
import type { Attempt } from '../../store/deliveries/queue.ts'
import type { Callback } from '../../store/tasks/callbacks.ts'
import { findTaskRow } from '../../store/tasks/tasks.ts'
import type { BaseDeps } from '../base-deps.ts'
import { type KeptDeps, withTrueExpiry } from '../results/kept-media.ts'
import { type SecretDeps, signingSecrets } from './callback-secret.ts'
import { callbackRules } from './callback-url.ts'

const timeoutMs = 15_000

/** Sends a callback over HTTP. */
export type Post = (url: string, options: PostOptions) => Promise<Posted>

export type DeliverDeps = SecretDeps & KeptDeps & EgressRules

export interface Outbox {
  /** Builds the callback for a task's end in its dialect; undefined where there is none. */
  readonly noticeFor: (task: Task) => string | undefined
  readonly post: Post
}

export async function deliver(
  deps: DeliverDeps,
  { id, taskId, accountId, url }: Callback,
  { noticeFor, post }: Outbox,
  signal: AbortSignal,
): Promise<Attempt> {
  const task = await endedTask(deps, taskId)
  const body = task && noticeFor(task)
  if (body === undefined) {
    return { atMs: deps.clock.nowMs(), tookMs: 0, error: 'there is nothing to tell' }
  }
  const secrets = await signingSecrets(deps, accountId)
  crashPoint('callback-due')
  const attempt = await postSigned(deps, post, { id, url, body, secrets }, signal)
  crashPoint('callback-sent')
  return attempt
}

interface SignedMessage {
  id: string
  url: string
  body: string
  secrets: string | readonly string[]
}

/** One signed request under the rules of all callbacks. */
export async function postSigned(
  deps: BaseDeps & EgressRules,
  post: Post,
  { id, url, body, secrets }: SignedMessage,
  signal: AbortSignal,
): Promise<Attempt> {
  const headers = signedHeaders(secrets, { id, atMs: deps.clock.nowMs(), body })
  return postMessage(deps, post, { url, body, headers }, signal)
}

interface Message {
  url: string
  body: string
  headers?: Readonly<Record<string, string>>
  /** What is wrong by the text of an answer, where the status alone does not say. */
  problemIn?(text: string): string | undefined
}

/** One request under the rules of all callbacks. */
export async function postMessage(
  deps: BaseDeps & EgressRules,
  post: Post,
  { url, body, headers, problemIn }: Message,
  signal: AbortSignal,
): Promise<Attempt> {
  const atMs = deps.clock.nowMs()
  const began = performance.now()
  const posted = await post(url, {
    rules: callbackRules(deps),
    headers: { 'content-type': 'application/json', 'user-agent': 'model-gateway', ...headers },
    body,
    timeoutMs,
    ...(problemIn !== undefined && { readsText: true }),
    signal,
  })
  const took = { atMs, tookMs: Math.round(performance.now() - began) }
  if ('problem' in posted) return { ...took, error: posted.problem }
  const problem = problemIn?.(posted.text ?? '')
  if (problem !== undefined && posted.status < 300) return { ...took, error: problem }
  return { ...took, status: posted.status, ...(isRedirect(posted) && redirected) }
}

async function endedTask(deps: DeliverDeps, taskId: string): Promise<Task | undefined> {
  const task = await findTaskRow(deps.store.read, taskId)
  return task && (await withTrueExpiry(deps, [task]))[0]
}

const isRedirect = ({ status }: { status: number }) => status >= 300 && status < 400
const redirected = { error: 'redirects are not followed' }
