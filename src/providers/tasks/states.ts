// Maps upstream status words to task states, in any case and spelling. An unknown word means that
// the task is still running, and is reported.
import type { TaskReport } from '../../contract/provider.ts'

type State = Exclude<TaskReport['state'], 'missing'>

const words: ReadonlyMap<string, State> = new Map<string, State>([
  ...all('queued', 'PENDING', 'QUEUED', 'WAITING', 'SUBMITTED', 'CREATED', 'SCHEDULED'),
  ...all('running', 'RUNNING', 'SUSPENDED', 'PROCESSING', 'IN_PROGRESS', 'STARTED'),
  ...all('succeeded', 'SUCCEEDED', 'SUCCESS', 'SUCCEED', 'SUCCESSFUL', 'COMPLETED', 'COMPLETE'),
  ...all('succeeded', 'DONE', 'FINISHED'),
  ...all('failed', 'FAILED', 'FAILURE', 'FAIL', 'ERROR', 'EXPIRED', 'REJECTED', 'TIMEOUT'),
  ...all('failed', 'MODERATION', 'MODERATED'),
  ...all('cancelled', 'CANCELED', 'CANCELLED'),
])
const maxWord = 64

function all(state: State, ...synonyms: string[]): [string, State][] {
  return synonyms.map((word) => [word, state])
}

/** In progress -> IN_PROGRESS */
export const wordOf = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, '_')

export const stateOf = (word: string): State | undefined => words.get(word)

/** The report for a task with an unknown status word. */
export const reportUnknown = (text: string): TaskReport => ({
  state: 'running',
  unknownStatus: text.trim().slice(0, maxWord),
})
