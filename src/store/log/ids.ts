// What the ids of requests tell: they begin with the time the request came.

/** No id of that time or later is below it. */
export const firstId = (atMs: number): string =>
  `req_${Math.max(0, Math.ceil(atMs)).toString(16).padStart(12, '0')}`

/** When the request with this id came; undefined for an id that does not tell. */
export function timeOfId(requestId: string): number | undefined {
  const digits = /^req_([0-9a-f]{12})/.exec(requestId)?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}
