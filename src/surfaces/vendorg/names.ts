// The ids of this interface. An operation and its file have the id of their task without the prefix.

/** The SDK accepts lower-case letters and digits only as a file id. */
const plainId = /^[0-9a-z]{1,64}$/

export const plainIdOf = (taskId: string): string => taskId.replace(/^video_/, '')

/** `0192…`, or `video_0192…` -> video_0192…; undefined when it is no task's. */
export function taskIdOf(id: string): string | undefined {
  const plain = plainIdOf(id)
  return plainId.test(plain) ? `video_${plain}` : undefined
}

export const operationName = (taskId: string): string => `operations/${plainIdOf(taskId)}`

export function fileAddress(publicUrl: string, version: string, taskId: string): string {
  const base = `${publicUrl.replace(/\/+$/, '')}/vendorg/${encodeURIComponent(version)}`
  return `${base}/files/${plainIdOf(taskId)}:download?alt=media`
}

/** vendorg-video-1:predictLongRunning -> ['vendorg-video-1', 'predictLongRunning'] */
export function splitCall(segment: string): [name: string, method: string] {
  const colon = segment.lastIndexOf(':')
  return colon === -1 ? [segment, ''] : [segment.slice(0, colon), segment.slice(colon + 1)]
}
