// Images in the callers' own style: one request, and its answer has the images. Nothing to poll, to
// cancel or to search for; without the answer the result is lost.

import type { Provider } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { bearer } from '../common/bearer.ts'
import { readError, upstreamRequestId } from '../common/errors.ts'
import { listPlainModels } from '../common/list-models.ts'
import { notWhatWasAsked } from '../tasks/errors.ts'
import { isGood, type Reply } from '../tasks/read-reply.ts'
import { startTask } from '../tasks/start-task.ts'
import type { CreateStyle } from '../tasks/style.ts'
import { buildRequest } from './build-request.ts'
import { readImages } from './read-images.ts'

/** Ten images of some megabytes, in Base64. */
const maxAnswerBytes = 64 * 1024 * 1024
/** Proxy time-outs: the images may or may not have been made. */
const lapses: ReadonlySet<number> = new Set([408, 499, 504])

const requestIdOf = ({ answer }: Reply): string | undefined => upstreamRequestId(answer)

const style: CreateStyle<ImageRequest> = {
  auth: bearer,
  buildRequest,
  maxAnswerBytes,
  // An error in the answer is final, whatever the status: no result will follow.
  verdict: ({ answer, body }) =>
    body?.['error'] != null && !lapses.has(answer.status) ? 'refused' : undefined,
  atOnce: readImages,
  requestIdOf,
  errorOf: (reply) =>
    isGood(reply.answer.status) && reply.body?.['error'] == null
      ? notWhatWasAsked(reply, 'a list of pictures', requestIdOf(reply))
      : readError(reply.answer, reply.text),
  isRefusal: ({ error, message }) => (error ?? message) != null,
}

export const images: Provider = {
  protocol: 'images',
  path: '/images/generations and /images/edits',
  listModels: listPlainModels,
  image: {
    start: (request, upstream, stop) => startTask(style, request, upstream, stop),
    check: async () => ({
      kind: 'report',
      report: { state: 'missing' },
      upstreamRequestId: undefined,
    }),
  },
}
