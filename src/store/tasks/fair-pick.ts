// Chooses among due tasks: one of each account, then a second of each, and so on, while there is
// room for their channels. Pure; knows nothing of where they come from.

export interface DueTask {
  id: string
  accountId: string
  channelId: string
  dueMs: number
}

/** In the order in which they were chosen. */
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

/** One queue for each account, those that have waited longest first in it and of them. */
function queuesOf(due: readonly DueTask[]): DueTask[][] {
  const sorted = due.toSorted((a, b) => a.dueMs - b.dueMs)
  const queues = new Map<string, DueTask[]>()
  for (const task of sorted) {
    const queue = queues.get(task.accountId)
    if (queue === undefined) queues.set(task.accountId, [task])
    else queue.push(task)
  }
  // Reversed, so that taking the first costs nothing.
  return [...queues.values()].map((queue) => queue.reverse())
}

/** The first for whose channel there is room; those before it are passed over. */
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
