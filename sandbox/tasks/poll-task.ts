// The answer to a poll of a task: a failure if a directive says so, else the state of the task in the
// format of the protocol.
import { directedFault } from '../http/directed-fault.ts'
import { type Answer, jsonAnswer } from '../protocol.ts'
import type { TaskInput } from './task-id.ts'
import type { SandboxTask, SandboxTaskState, TaskMemory } from './task-memory.ts'

export function pollTask<Input extends TaskInput>(
  tasks: TaskMemory<Input>,
  task: SandboxTask<Input>,
  key: string,
  shape: (state: SandboxTaskState) => unknown,
): Answer {
  const trouble = tasks.trouble(task)
  const state = tasks.poll(task)
  if (trouble === undefined) return jsonAnswer(shape(state))
  if (trouble === 'hang') return { kind: 'no-reply' }
  const asked = trouble === 'leak' ? { leak: true } : { leak: false, status: trouble }
  return { kind: 'fault', fault: directedFault(asked, key)! }
}
