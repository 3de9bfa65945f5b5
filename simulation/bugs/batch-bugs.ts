// Bugs on purpose in batches and in background responses.
import { type Bug, knownWorld, one } from './bug.ts'

const runBatch = 'src/engine/batches/run-batch.ts'
const ownResponses = 'src/engine/tasks/own-responses.ts'
const claimed = "updateTask(tx, claimed, 'queued', fence)"

export const batchBugs: readonly Bug[] = [
  one(
    'line-charged-twice',
    'a gateway that goes on with a batch runs lines again that have their answer',
    runBatch,
    'for (const { line } of page.done) this.#done.add(line)',
    'for (const { line, failed } of page.done) if (failed === 1) this.#done.add(line)',
  ),
  one(
    'line-lost',
    'a line is charged although its answer could not be stored',
    'src/engine/batches/run-line.ts',
    '        return false\n',
    '        return true\n',
  ),
  one(
    'line-not-charged',
    'an answer whose charge was not written counts as done',
    'src/store/batches/lines.ts',
    'r.booked_at_ms IS NOT NULL AND r.status = 200)',
    'r.booked_at_ms IS NOT NULL AND r.status = 200) AND 1 = 0',
  ),
  {
    name: 'line-adopted-twice',
    why: 'a gateway goes on with a batch that another one has taken over',
    known: knownWorld('line-adopted-twice'),
    edits: [
      {
        file: 'src/store/batches/batches.ts',
        find: 'return (await lockBatch(tx, dialect, claim)) !== undefined',
        replace: 'return (await lockBatch(tx, dialect, claim)) !== null',
      },
      {
        file: runBatch,
        find: `      if (stored === undefined) this.#isLost = true
      else if (stored.state`,
        replace: '      if (stored !== undefined && stored.state',
      },
    ],
  },
  {
    name: 'response-sent-again',
    why: 'a response whose gateway died after it was sent is sent again',
    known: knownWorld('response-sent-again'),
    edits: [
      {
        file: 'src/engine/tasks/poll/advance-task.ts',
        find: "  if (task.state !== 'queued') return giveUp(deps, task, cutOff, [])\n",
        replace: '  void cutOff\n',
      },
      { file: ownResponses, find: claimed, replace: 'updateTask(tx, claimed, task.state, fence)' },
    ],
  },
]
