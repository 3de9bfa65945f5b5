// Request ids begin with the arrival time of the request.

/** Lower bound of all ids from that time on. */
export const firstId = (atMs: number): string =>
  `req_${Math.max(0, Math.ceil(atMs)).toString(16).padStart(12, '0')}`

/** Arrival time of the request with this id; undefined for an id without one. */
export function timeOfId(requestId: string): number | undefined {
  const digits = /^req_([0-9a-f]{12})/.exec(requestId)?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}
