// The names of this interface. Operation and file have the name of their task without its prefix,
// so that one task is one thing in every interface.

/** What the SDK takes for the id of a file: lower-case letters and digits only. */
const plainId = /^[0-9a-z]{1,64}$/

export const plainIdOf = (taskId: string): string => taskId.replace(/^video_/, '')

/** `0192…`, or `video_0192…` -> video_0192…; undefined when it can be nobody's. */
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
