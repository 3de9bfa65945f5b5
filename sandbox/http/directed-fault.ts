// Refusals that a directive asks for, before they have a protocol's shape.

import type { Fault } from '../protocol.ts'
import type { Directives } from './directives.ts'

export function directedFault(
  directives: Pick<Directives, 'leak' | 'status'>,
  presented: string,
): Fault | undefined {
  if (directives.leak) return { status: 500, message: leakedText(presented) }
  if (directives.status === undefined) return undefined
  return {
    status: directives.status,
    message: `The sandbox was told to answer ${directives.status}.`,
  }
}

/** All that must never reach a caller, in one message. */
const leakedText = (key: string): string =>
  [
    `Inference failed for key ${key === '' ? 'none' : key}:`,
    `POST http://10.12.0.7:8443/internal/v1/infer?token=itk-5f3a9c1e77b20d46 answered 500`,
    '    at InferenceWorker.run (/srv/inference/dist/worker.js:118:23)',
    '    at async Scheduler.dispatch (/srv/inference/dist/scheduler.js:57:9)',
  ].join('\n')
