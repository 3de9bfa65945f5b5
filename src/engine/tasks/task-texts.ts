// Texts of background responses at rest: sealed, bound to their task, and gone after a day.
import type { MadeAnswer } from '../../contract/provider.ts'
import type { ResponseTask, Task } from '../../contract/task.ts'
import { sureNowMs } from '../../lib/clock.ts'
import { withField } from '../../lib/json/splice.ts'
import { findTaskText, type TaskText } from '../../store/tasks/texts.ts'
import type { BaseDeps, Seals } from '../base-deps.ts'

/** How long an answer can be fetched. */
const keptMs = 24 * 3_600_000

type TextDeps = BaseDeps & Seals

export const sealedText = (
  { seal, clock }: TextDeps,
  { id: taskId }: Pick<Task, 'id'>,
  part: TaskText['part'],
  text: string,
): TaskText => ({
  taskId,
  part,
  sealed: seal.encrypt(text, contextOf(taskId, part)),
  expiresAtMs: clock.nowMs() + keptMs,
})

/** Undefined: there is none, or no longer. */
export async function readText(
  { seal, store, clock }: TextDeps,
  { id }: Pick<Task, 'id'>,
  part: TaskText['part'],
): Promise<string | undefined> {
  const sealed = await findTaskText(store.read, id, part, sureNowMs(clock))
  return sealed === undefined ? undefined : seal.decrypt(sealed, contextOf(id, part))
}

const contextOf = (id: string, part: TaskText['part']): string => `${id} ${part}`

/** The answer under the id and the model that the caller knows. */
export function bodyOf(
  { id, model }: Pick<ResponseTask, 'id' | 'model'>,
  { body }: MadeAnswer,
): string {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString()
  return [
    ['id', id],
    ['model', model],
    ['background', true],
  ].reduce((edited, [name, value]) => withField(edited, String(name), JSON.stringify(value)), text)
}
