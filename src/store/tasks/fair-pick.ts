// Fair choice among due tasks: one per account, then a second per account, and so on, within the
// limits of their channels. Pure; does not know where tasks come from.

export interface DueTask {
  id: string
  accountId: string
  channelId: string
  dueMs: number
}

/** In the order of choice. */
export function pickFairly(
  due: readonly DueTask[],
  limit: number,
  roomFor: (channelId: string) => number,
): DueTask[] {
  const rooms = new Map<string, number>()
  const picked: DueTask[] = []
  let queues = queuesOf(due)
  while (queues.length > 0 && picked.length < limit) {
    for (const queue of queues) {
      if (picked.length === limit) break
      const task = takeFirst(queue, rooms, roomFor)
      if (task !== undefined) picked.push(task)
    }
    queues = queues.filter(({ length }) => length > 0)
  }
  return picked
}

/** One queue per account; queues and their tasks ordered by longest wait. */
function queuesOf(due: readonly DueTask[]): DueTask[][] {
  const sorted = due.toSorted((a, b) => a.dueMs - b.dueMs)
  const queues = new Map<string, DueTask[]>()
  for (const task of sorted) {
    const queue = queues.get(task.accountId)
    if (queue === undefined) queues.set(task.accountId, [task])
    else queue.push(task)
  }
  // Reversed, so that taking the first is cheap.
  return [...queues.values()].map((queue) => queue.reverse())
}

/** The first task whose channel has capacity; earlier ones are skipped. */
function takeFirst(
  queue: DueTask[],
  rooms: Map<string, number>,
  roomFor: (channelId: string) => number,
): DueTask | undefined {
  for (let task = queue.pop(); task !== undefined; task = queue.pop()) {
    const room = rooms.get(task.channelId) ?? roomFor(task.channelId)
    rooms.set(task.channelId, room - 1)
    if (room > 0) return task
  }
  return undefined
}
