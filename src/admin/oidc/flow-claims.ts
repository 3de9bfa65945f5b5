// Sign-ins that have come back to this process: each of them is exchanged once, whatever becomes of it. In
// memory, so that one that fails leaves no row; those that succeed are in the store, for all gateways.
const maxClaims = 10_000
/** Longer than the cookie of a sign-in is valid. */
const keptMs = 15 * 60_000

/** By the hash of their state, the oldest first. */
const claims = new Map<string, number>()

/** True for the first one. */
export function claimFlow(hash: string, nowMs: number): boolean {
  for (const [each, atMs] of claims) {
    if (claims.size < maxClaims && Math.abs(nowMs - atMs) < keptMs) break
    claims.delete(each)
  }
  if (claims.has(hash)) return false
  claims.set(hash, nowMs)
  return true
}
