// Bugs on purpose, to check that the simulation finds them: each replaces some words of the sources, in a copy,
// never in the working tree.
import { batchBugs } from './batch-bugs.ts'
import { booksBugs } from './books-bugs.ts'
import { type Bug, knownWorld, one } from './bug.ts'
import { outageBugs } from './outage-bugs.ts'

const ledger = 'src/billing/ledger.ts'
const endHold = 'src/billing/end-hold.ts'
const ledgerStep = 'src/billing/ledger-step.ts'
const balances = 'src/billing/balances.ts'
const endTask = 'src/engine/tasks/end-task.ts'
const holdTask = 'src/engine/tasks/create/hold-task.ts'
const sendTask = 'src/engine/tasks/create/send-task.ts'

const releaseLine =
  "if (!(await appendEntry(tx, { ...base, kind: 'release', amountNanos }))) return undefined"
const endTransaction = `  const done = await step.commit(() =>
    deps.store.tx(async (tx) => {
      const booked = await step.write(tx)
      return booked && writeEnd(tx, ending, booked)
    }, accountId),
  )
`
const chargeChoice =
  "const settled = end.state === 'succeeded' ? settlementOf(deps, task, end) : undefined"
const chargedAlways = (state: string) =>
  `const settled = end.state === 'succeeded' || end.state === '${state}' ? settlementOf(deps, task, ` +
  `end.state === 'succeeded' ? end : { state: 'succeeded', media: [{ kind: 'image', url: '' }], usage: {}, ` +
  'raw: undefined }) : undefined'

export const bugs: readonly Bug[] = [
  one(
    'charge-before-state',
    'the money of an end is committed before its state is',
    endTask,
    endTransaction,
    `  const booked = await step.commit()
  const done = booked && (await deps.store.tx((tx) => writeEnd(tx, ending, booked)))
`,
  ),
  one(
    'release-outside-transaction',
    'a task fails in one transaction and its hold is released in the next',
    endTask,
    endTransaction,
    `  const free = { chargeNanos: 0n, shortNanos: 0n, isWithheld: false }
  const early =
    settled === undefined ? await deps.store.tx((tx) => writeEnd(tx, ending, free)) : undefined
  const done = await step.commit(() =>
    deps.store.tx(async (tx) => {
      const booked = await step.write(tx)
      return booked && (early ?? (await writeEnd(tx, ending, booked)))
    }, accountId),
  )
`,
  ),
  one(
    'no-compare-and-set',
    'a task is written whatever state its row is in by then',
    'src/store/tasks/tasks.ts',
    `    .where('state', 'in', typeof still === 'string' ? [still] : still)
`,
    '',
  ),
  one(
    'poll-without-fence',
    'a poll is written although another gateway has the lease and the task has moved on',
    'src/store/tasks/poll-updates.ts',
    'WHERE tasks.id = given.id AND tasks.fence = given.fence AND tasks.state = given.still',
    'WHERE tasks.id = given.id',
  ),
  {
    name: 'double-charge',
    why: 'the second gateway to find an end charges again',
    known: knownWorld('double-charge'),
    edits: [
      {
        file: endHold,
        find: releaseLine,
        replace: releaseLine.replace('if (!(', 'void (').replace(')) return undefined', ')'),
      },
      {
        file: endHold,
        find: 'ensure(await appendEntry(tx, entry), ',
        replace:
          "const isNew = (await findEntry(tx, taskId, 'charge')) === undefined\n" +
          "          void (await appendEntry(tx, isNew ? entry : { ...entry, ref: entry.ref + ':2' }), ",
      },
      {
        file: endTask,
        find: 'ensure(moved, ',
        replace: 'void (moved, ',
      },
      {
        file: endTask,
        find: 'ensure(task.finishedAtMs === undefined, ',
        replace: 'void (task, ',
      },
    ],
  },
  one(
    'create-resent',
    'a create with an unknown outcome is sent again',
    sendTask,
    "if (input.kind === 'video' && video) return await video.start(input.request, upstream, stop)",
    `if (input.kind === 'video' && video) {
      const first = await video.start(input.request, upstream, stop)
      return first.kind === 'unknown' ? await video.start(input.request, upstream, stop) : first
    }`,
  ),
  {
    name: 'unknown-is-refused',
    why: 'a create with an unknown outcome counts as refused, and may be repeated',
    known: knownWorld('unknown-is-refused'),
    edits: [
      {
        file: sendTask,
        find: "if (started.kind === 'unknown') return",
        replace: "if (started.kind === 'unknown' && error.message === '') return",
      },
    ],
  },
  one(
    'hold-after-send',
    'the create leaves while its row and hold are still being written',
    holdTask,
    'written = await writeTask(engine, ctx, task, keyed)',
    `written = 'done'
    void writeTask(engine, ctx, task, keyed)`,
  ),
  one(
    'hold-kept-on-failure',
    'a task that fails keeps its hold',
    endHold,
    releaseLine,
    releaseLine.replace('if (!(', 'if (charge !== undefined && !('),
  ),
  one(
    'answer-before-durable',
    'a call is answered while its charge is on its way',
    ledger,
    '        await this.#store.record(record)',
    '        void this.#store.record(record)',
  ),
  one(
    'hold-not-reserved',
    'two holds that are written at once are both paid for by the same money',
    ledgerStep,
    '    this.reserve(this.#takenNanos)\n',
    '',
  ),
  {
    name: 'balance-read-outside',
    why: 'where gateways share a database, the balance is looked at before the transaction begins',
    known: knownWorld('balance-read-outside'),
    edits: [
      {
        file: ledgerStep,
        find: '    if (deps.creditLeases !== undefined || this.#takenNanos === 0n) return undefined\n',
        replace:
          '    if (deps.creditLeases !== undefined && this.#takenNanos > 0n) {\n' +
          '      this.seenNanos = await lockFreeNanos(deps.store.read, this.accountId)\n' +
          '    }\n' +
          '    if (deps.creditLeases !== undefined || this.#takenNanos === 0n) return undefined\n',
      },
      {
        file: ledgerStep,
        find: 'const freeNanos = await lockFreeNanos(tx, accountId)',
        replace: 'const freeNanos = this.seenNanos',
      },
    ],
  },
  one(
    'failed-write-trusted',
    'a write that failed is taken not to have been stored',
    balances,
    'if (error instanceof Rollback) return',
    'if (!(error instanceof Rollback)) return',
  ),
  one(
    'lease-spent-while-returned',
    'credit that goes back to its account can still be spent meanwhile',
    'src/billing/credit/credit-leases.ts',
    `    this.#funds.add(-unheldNanos)
    const moved = await this.#move(() => ({ nanos: -unheldNanos, isShort: false }))
`,
    `    const moved = await this.#move(() => ({ nanos: -unheldNanos, isShort: false }))
    this.#funds.add(-unheldNanos)
`,
  ),
  one(
    'price-not-frozen',
    'a task is charged by the price of the day on which it ends',
    endTask,
    'deps.prices.byId(task.priceId)',
    'deps.prices.current(task.model)',
  ),
  one(
    'failed-is-charged',
    'a task that fails costs',
    endTask,
    chargeChoice,
    chargedAlways('failed'),
  ),
  one(
    'cancelled-is-charged',
    'a task that is cancelled costs',
    endTask,
    chargeChoice,
    chargedAlways('cancelled'),
  ),
  {
    name: 'key-outside-transaction',
    why: 'the key of a create is written after its task',
    known: knownWorld('key-outside-transaction'),
    edits: [
      {
        file: holdTask,
        find: 'const isFirst = keyed === undefined || (await keepKey(engine, tx, keyed, task))',
        replace: 'const isFirst = true',
      },
      {
        file: holdTask,
        find: "    if (written === 'done') return",
        replace: `    if (written === 'done' && keyed !== undefined) {
      await engine.store.tx((tx) => keepKey(engine, tx, keyed, task))
    }
    if (written === 'done') return`,
      },
    ],
  },
  {
    name: 'callback-outside-transaction',
    why: 'the callback of an end is written after it',
    known: knownWorld('callback-outside-transaction'),
    edits: [
      { file: endTask, find: '  await queueCallback(tx, ended, end)\n', replace: '' },
      {
        file: endTask,
        find: '  if (done === undefined) return undefined\n',
        replace: `  if (done === undefined) return undefined
  await deps.store.tx((tx) => queueCallback(tx, done.ended, end))
`,
      },
    ],
  },
  one(
    'end-without-its-step',
    'the end of a task is written without the step that tells of it',
    endTask,
    'ended.timeline = timelineOf(row ?? task, ended, end, nowMs)',
    'void timelineOf(row ?? task, ended, end, nowMs)',
  ),
  one(
    'images-charged-as-requested',
    'images are charged by how many were requested',
    'src/engine/tasks/task-charge.ts',
    'const quantity = Math.min(images, task.request.count)',
    'const quantity = images >= 0 ? task.request.count : 0',
  ),
  one(
    'unknown-frees-key',
    'a key can be used again while the outcome of its create is unknown',
    'src/engine/tasks/create/idempotency.ts',
    '!mayBeMade.has(error.code)',
    "error.code !== 'no_output'",
  ),
  one(
    'call-hold-leaks',
    'a call that comes to nothing keeps what was set aside for it',
    'src/engine/calls/settle-call.ts',
    '  engine.ledger.release(hold)\n  pass.leave(undefined)\n',
    '  pass.leave(undefined)\n',
  ),
  one(
    'burial-keeps-credit',
    'what a dead gateway had drawn stays drawn',
    'src/store/ledger/credit-leases.ts',
    'await addLeased(tx, account_id, -amount_nanos)',
    'await addLeased(tx, account_id, -amount_nanos / 2n)',
  ),
  ...outageBugs,
  ...booksBugs,
  ...batchBugs,
]
