// How this upstream is addressed.
import type { TaskUpstream } from '../../contract/provider.ts'
import { plainHeaders } from '../tasks/listen.ts'

export const headersFor = (upstream: TaskUpstream): Record<string, string> => ({
  'x-goog-api-key': upstream.key,
  ...plainHeaders,
})

/** A name that is a plain path below the version: nothing in it leads elsewhere. */
export const isOperationName = (name: string): boolean =>
  name.length <= 300 &&
  /^(?:[\w~@:.-]+\/){0,8}operations\/[\w~@:.-]+$/.test(name) &&
  !name.split('/').some((part) => /^\.+$/.test(part))
