// Which waiting calls get room in the budgets that they fall under: in order of arrival, each in all of
// them or in none. Pure.

interface Want {
  ids: readonly string[]
  nanos: bigint
}

export interface Room {
  amountNanos: bigint
  /** Neither spent, held nor leased by another gateway. */
  freeNanos: bigint
}

export interface Decision {
  /** By the index of the call: budgets that lack room for it; none: it is admitted. */
  lacking: readonly (readonly string[])[]
  /** Taken of each budget by those that are admitted. */
  takenNanos: ReadonlyMap<string, bigint>
}

/** A budget without a row was taken away meanwhile: it limits nothing. */
export function decide(rooms: ReadonlyMap<string, Room>, wants: readonly Want[]): Decision {
  const takenNanos = new Map<string, bigint>()
  const lacking = wants.map(({ ids, nanos }) => {
    const short = ids.filter((id) => {
      const room = rooms.get(id)
      if (room === undefined) return false
      const left = room.freeNanos - (takenNanos.get(id) ?? 0n)
      return room.amountNanos === 0n || left < nanos
    })
    if (short.length > 0) return short
    for (const id of ids) takenNanos.set(id, (takenNanos.get(id) ?? 0n) + nanos)
    return []
  })
  return { lacking, takenNanos }
}

/** With plenty of room a gateway leases for this many more calls, and at most one part in so many. */
const callsAhead = 16n
const freeShare = 4n

export function aheadOf(leftNanos: bigint, maxWantNanos: bigint): bigint {
  const share = leftNanos > 0n ? leftNanos / freeShare : 0n
  const wanted = maxWantNanos * callsAhead
  if (wanted > share) return share
  return wanted
}

/** The largest of these, and at least zero. */
export function maxOf(...all: readonly bigint[]): bigint {
  let max = 0n
  for (const each of all) if (each > max) max = each
  return max
}
