// A task as an operation of this interface. File addresses are the gateway's own.
import { type RefusalCode, refusals } from '../../contract/errors.ts'
import { isEnd, type VideoTask } from '../../contract/task.ts'
import type { AnswerHeaders } from '../../http/request-context.ts'
import { sizeTextOf } from '../media/size-of.ts'
import { fileAddress, operationName } from './names.ts'
import { type RpcStatus, rpcNumberOf, rpcStatusOf } from './rpc-status.ts'

/** How long a caller should wait between two polls. */
export const pollSeconds = 6

export const pollHeaders = (task: VideoTask): AnswerHeaders | undefined =>
  isEnd(task.state) ? undefined : { 'retry-after': String(pollSeconds) }

export function operationOf(task: VideoTask, publicUrl: string, version: string): object {
  const name = operationName(task.id)
  if (!isEnd(task.state)) return { name, done: false }
  if (task.state !== 'succeeded') return { name, done: true, error: errorOf(task) }
  const video = { uri: fileAddress(publicUrl, version, task.id) }
  const sample = { video, metadata: metadataOf(task) }
  return {
    name,
    done: true,
    response: { generateVideoResponse: { generatedSamples: [sample] } },
  }
}

function metadataOf(task: VideoTask): object {
  const { request, usage } = task
  const size = sizeTextOf(task)
  return {
    durationSeconds: usage?.outputSeconds ?? request.seconds,
    ...(size !== undefined && { size }),
  }
}

/** SDKs of this interface need a number; the gateway's own code is beside it. */
function errorOf({ state, error }: VideoTask): object {
  if (state === 'cancelled') return rpcError('CANCELLED', 'the task was cancelled', 'cancelled')
  const { code, message } = error ?? {
    code: 'upstream_error',
    message: 'the video could not be made',
  }
  return rpcError(rpcStatusOf(httpStatusOf(code)), message, code)
}

const rpcError = (status: RpcStatus, message: string, reason: string) => ({
  code: rpcNumberOf(status),
  message,
  status,
  reason,
})

const httpStatusOf = (code: string): number =>
  Object.hasOwn(refusals, code) ? refusals[code as RefusalCode].status : 500
