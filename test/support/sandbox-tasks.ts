// The tasks that a sandbox was asked for, as it tells them itself.
import type { Sandbox } from '../../sandbox/server.ts'
import type { ListedTask } from '../../sandbox/tasks/task-memory.ts'

export async function sandboxTasks(sandbox: Sandbox): Promise<ListedTask[]> {
  const response = await fetch(`${sandbox.url}/_sandbox/tasks`)
  return ((await response.json()) as { tasks: ListedTask[] }).tasks
}
