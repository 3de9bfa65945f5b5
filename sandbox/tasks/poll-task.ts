// The answer to a question about a task: what was ordered to go wrong does, then it is told how the
// task stands, in whatever shape the protocol has for it.
import { directedFault } from '../http/directed-fault.ts'
import { type Answer, jsonAnswer } from '../protocol.ts'
import type { SandboxTask, SandboxTaskState, TaskMemory, TaskOrder } from './task-memory.ts'

export function pollTask<Order extends TaskOrder>(
  tasks: TaskMemory<Order>,
  task: SandboxTask<Order>,
  key: string,
  shape: (state: SandboxTaskState) => unknown,
): Answer {
  const trouble = tasks.trouble(task)
  const state = tasks.poll(task)
  if (trouble === undefined) return jsonAnswer(shape(state))
  if (trouble === 'hang') return { kind: 'silence' }
  const asked = trouble === 'leak' ? { leak: true } : { leak: false, status: trouble }
  return { kind: 'fault', fault: directedFault(asked, key)! }
}
