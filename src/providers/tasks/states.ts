// The words upstreams have for the states of a task, in whatever case and spelling. A word that is
// not here means that the task is still running; somebody should be told of it.
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

/** What is said of a task by a word nobody knows. */
export const strange = (text: string): TaskReport => ({
  state: 'running',
  unknownStatus: text.trim().slice(0, maxWord),
})
