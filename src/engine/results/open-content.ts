// Fetches a task's file for its owner and passes on the bytes, nothing else of the upstream. A dead
// link is renewed once before the file counts as expired.
import type { Content, ContentOptions } from '../../contract/caller-api.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { OutputMedia, Task } from '../../contract/task.ts'
import {
  type AddressRules,
  type Download,
  type DownloadProblem,
  guardAddress,
  openDownload,
} from '../../lib/net/guarded-fetch.ts'
import type { Declares } from '../base-deps.ts'
import { originOf, pollTargetFor, taskUpstream } from '../tasks/task-upstream.ts'
import { filePart } from './file-part.ts'
import { type KeptDeps, openKept } from './kept-media.ts'
import { type RefreshDeps, refreshMedia } from './refresh-media.ts'

export type ContentDeps = KeptDeps & RefreshDeps & Declares

const headTimeoutMs = 30_000
const maxRedirects = 3

export async function openContent(
  deps: ContentDeps,
  task: Task,
  input: ContentOptions = {},
): Promise<Content | Refusal> {
  const file = task.media[filePart(task, input)]
  if (file === undefined) {
    return refuse('video_not_available', `the task has no ${input.file ?? 'video'}`)
  }
  const kept = await openKept(deps, task, input)
  if (kept !== undefined) return kept
  const first = isOver(deps, file) ? expired : await openFile(deps, task, file, input)
  if (!(first instanceof Refusal) || !mayHaveMoved(first)) return first
  const fresh = await refreshMedia(deps, task)
  const again = fresh?.media[filePart(fresh, input)]
  if (again === undefined || again.url === file.url || isOver(deps, again)) return first
  return openFile(deps, task, again, input)
}

/** The file may be available elsewhere by now. */
const mayHaveMoved = (refusal: Refusal): boolean =>
  refusal === expired || refusal.code === 'upstream_unreachable'

const isOver = ({ clock }: ContentDeps, { expiresAtMs }: OutputMedia): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= clock.nowMs()

const expired = refuse('video_expired', 'the result is no longer kept by the upstream')

async function openFile(
  deps: ContentDeps,
  task: Task,
  file: OutputMedia,
  input: ContentOptions,
): Promise<Content | Refusal> {
  const way = wayTo(deps, task, file.url)
  if (input.noRedirect !== true && (await mayRedirect(deps, file, way))) {
    return { status: 302, location: new URL(file.url).href }
  }
  return openPlain(deps, { ...file, id: task.id }, way, input)
}

/** A file and its owner, for the log and the tag. */
type NamedFile = Pick<OutputMedia, 'kind' | 'url'> & { id: string }

/** The file at that URL, as it is now. */
export async function openPlain(
  deps: ContentDeps,
  file: NamedFile,
  way: Way,
  input: ContentOptions,
): Promise<Content | Refusal> {
  const open = async (range: string | undefined): Promise<Content | Refusal> => {
    const { signal } = input
    const limits = { maxRedirects, headTimeoutMs, ...(signal !== undefined && { signal }) }
    const answer = await openDownload(file.url, { ...way, ...limits, range })
    return 'problem' in answer ? unfetched(deps, file, answer) : read(file, answer, range)
  }
  const { range, ifRange } = input
  const content = await open(range)
  if (range === undefined || ifRange === undefined || content instanceof Refusal) return content
  if (!('body' in content)) return partOrWhole(content, await open(undefined), ifRange)
  if (content.status === 200 || content.etag === ifRange) return content
  await dropContent(content)
  return open(undefined)
}

/** Range not satisfiable: that is the answer only if the caller means this file. */
async function partOrWhole(
  none: Content,
  whole: Content | Refusal,
  ifRange: string,
): Promise<Content | Refusal> {
  if (whole instanceof Refusal || !('body' in whole) || whole.etag !== ifRange) return whole
  await dropContent(whole)
  return none
}

/** An unread body would keep its connection open. */
export async function dropContent(content: Content): Promise<void> {
  if ('body' in content && content.body instanceof ReadableStream) {
    await content.body.cancel().catch(() => {})
  }
}

function unfetched(
  deps: ContentDeps,
  { id }: NamedFile,
  { kind, problem }: DownloadProblem,
): Refusal {
  deps.log.info('result download failed', { task_id: id, error: problem })
  return kind === 'timeout'
    ? refuse('upstream_timeout', 'the result was not handed over in time')
    : refuse('upstream_unreachable', 'the result could not be fetched from the upstream')
}

async function read(
  file: NamedFile,
  answer: Download,
  range: string | undefined,
): Promise<Content | Refusal> {
  const { status, headers, body } = answer
  const part = status === 206 ? partOf(headers['content-range'], range) : undefined
  if (status === 200 || part !== undefined) {
    const header = headers['content-length'] ?? part?.lengthBytes
    const etag = tagOf(file, headers.etag)
    return {
      status: status === 200 ? 200 : 206,
      body,
      // Whatever the upstream says: no HTML page may be served from our origin.
      contentType: file.kind === 'video' ? 'video/mp4' : imageType(headers['content-type']),
      ...(header !== undefined && { lengthBytes: Number(header) }),
      ...(part !== undefined && { contentRange: part.contentRange }),
      ...(etag !== undefined && { etag }),
    }
  }
  await body.cancel().catch(() => {})
  if (status === 403 || status === 404 || status === 410) return expired
  if (status === 416 && range !== undefined) {
    const size = /^bytes \*\/(\d{1,15})$/.exec(headers['content-range'] ?? '')?.[1]
    return { status, ...(size !== undefined && { sizeBytes: Number(size) }) }
  }
  return refuse('upstream_error', 'the upstream did not hand over the result')
}

/** Undefined when it is not the requested range. */
function partOf(
  header: string | undefined,
  range: string | undefined,
): { contentRange: string; lengthBytes: number } | undefined {
  const [, first, last] = /^bytes (\d{1,15})-(\d{1,15})\/(?:\d{1,15}|\*)$/.exec(header ?? '') ?? []
  const lengthBytes = Number(last) - Number(first) + 1
  if (header === undefined || range === undefined || !(lengthBytes > 0)) return undefined
  const from = /^bytes=(\d+)-/.exec(range)?.[1]
  if (from !== undefined && Number(from) !== Number(first)) return undefined
  return { contentRange: header, lengthBytes }
}

/** Derived from the upstream's where that promises equal bytes; the original is not passed on. */
function tagOf({ id, kind }: NamedFile, header: string | undefined): string | undefined {
  if (header === undefined || !/^"[\x21\x23-\x7e]{1,200}"$/.test(header)) return undefined
  const hash = new Bun.CryptoHasher('sha256').update(`${id}\n${kind}\n${header}`).digest('hex')
  return `"${hash.slice(0, 32)}"`
}

export const imageType = (header: string | undefined): string =>
  /^image\/(?:png|jpeg|webp)$/.exec(header ?? '')?.[0] ?? 'application/octet-stream'

interface Way {
  rules: AddressRules
  credentials?: Readonly<Record<string, string>>
}

/** How a result of this task is fetched: from where, and with what, if that is its channel's own. */
export function wayTo(deps: ContentDeps, task: Task, url: string): Way {
  const rules = rulesFor(deps, task)
  const home = originOf(deps, task)
  const pollTarget = pollTargetFor(deps, task)
  if (home === undefined || pollTarget?.fileHeaders === undefined) return { rules }
  const { route, key } = home
  if (URL.parse(url)?.origin !== new URL(route.baseUrl).origin) return { rules }
  const upstream = taskUpstream(deps, task, route, key, { touch() {} })
  return { rules, credentials: pollTarget.fileHeaders(upstream) }
}

/** The sandbox runs on this machine; any other host must be public or allowed. */
function rulesFor(deps: ContentDeps, task: Task): AddressRules {
  const own = task.channelId === 'sandbox' ? ['127.0.0.1/32'] : []
  const allow = [...deps.egressAllow, ...own]
  const hosts = deps.declared.file.downloads?.hosts
  if (hosts === undefined) return { allow, httpsOnly: true }
  const home = originOf(deps, task)
  const originHost = home === undefined ? [] : [new URL(home.route.baseUrl).hostname]
  return { allow, httpsOnly: true, hosts: [...hosts, ...originHost] }
}

/** Only for links that need no access rights: public, https, and without a key. */
async function mayRedirect(deps: ContentDeps, file: OutputMedia, way: Way): Promise<boolean> {
  if (deps.declared.file.downloads?.redirect !== true) return false
  if (way.credentials !== undefined) return false
  const guarded = await guardAddress(file.url, { ...way.rules, allow: [], httpsOnly: true })
  return 'addresses' in guarded
}
