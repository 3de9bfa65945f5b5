// The interfaces, for calls that a gateway makes itself. Loading them takes long: only where a world needs them.
import type { Parts } from '../world/parts.ts'
import type { OwnCalls } from './gateway.ts'

const limits = { bodyBytes: 32 * 1024 * 1024, bodyMs: 60_000, jsonDepth: 64 }

/** `parts` undefined: those of any seed. */
export async function loadOwnCalls(parts: Parts | undefined): Promise<OwnCalls | undefined> {
  if (parts !== undefined && !parts.batches && !parts.background) return undefined
  const { ownCallsOf } = await import('../../src/start/own-calls.ts')
  return (engine) => ownCallsOf(engine, limits as Parameters<typeof ownCallsOf>[1])
}
