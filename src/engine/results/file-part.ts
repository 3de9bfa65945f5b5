// Which of a task's files a caller means.
import type { ContentOptions } from '../../contract/caller-api.ts'
import type { Task } from '../../contract/task.ts'

/** Its index among the task's files; -1 when it has none of the kind. */
export const filePart = ({ media }: Task, { file = 'video' }: ContentOptions): number =>
  typeof file === 'number' ? file : media.findIndex(({ kind }) => kind === file)
