// Bugs on purpose in what upstreams take, in refunds and in bills.
import { type Bug, knownWorld, one } from './bug.ts'

const callCost = 'src/engine/calls/call-cost.ts'
const ledgerStep = 'src/billing/ledger-step.ts'
const closeMonth = 'src/billing/bills/close-month.ts'
const numberTaken = 'number: await nextBillNumber(tx, month)'
const beforeClosing = "  crashPoint('month-closing')\n"

export const booksBugs: readonly Bug[] = [
  one(
    'failed-cost-dropped',
    'what an upstream takes for an attempt that failed is not counted',
    'src/engine/calls/charged-usage.ts',
    'addFailedCost(open, route.channel.name, used, watcher?.reported.served)',
    'void addFailedCost',
  ),
  one(
    'cost-of-another-channel',
    'a call that was served by its second channel costs what the first one takes',
    callCost,
    'channel,\n    atMs: record.atMs,',
    'channel: open.routes[0]?.channel.name ?? channel,\n    atMs: record.atMs,',
  ),
  one(
    'own-response-without-channel',
    'a response that the gateway makes has the cost of no channel',
    'src/engine/tasks/own-responses.ts',
    'const served = { ...task, channel, channelId, upstreamModel }',
    'const served = { ...task, upstreamModel }',
  ),
  {
    name: 'refund-checked-before',
    why: 'what is left of a charge is read before the transaction of its refund',
    known: knownWorld('refund-checked-before'),
    edits: [
      {
        file: ledgerStep,
        find: `    this.#order = order
  }

  protected async prepare(): Promise<undefined> {}
`,
        replace: `    this.#order = order
  }

  before = 0n

  protected async prepare(): Promise<undefined> {
    const { refundOf } = this.#order
    this.before = (await refundedOf(this.deps.store.read, [refundOf])).get(refundOf) ?? 0n
  }
`,
      },
      {
        file: ledgerStep,
        find: 'const before = (await refundedOf(tx, [refundOf])).get(refundOf) ?? 0n',
        replace: 'const before = this.before',
      },
    ],
  },
  one(
    'refund-twice-in-bill',
    'a bill has what was given back twice',
    'src/billing/bills/bill.ts',
    "refunds: formatNanos(total('refund')),",
    "refunds: formatNanos(total('refund') * 2n),",
  ),
  {
    name: 'bill-number-lost',
    why: 'the number of a bill is taken in a transaction of its own',
    known: knownWorld('bill-number-lost'),
    edits: [
      {
        file: closeMonth,
        find: beforeClosing,
        replace: `${beforeClosing}  const number = await store.tx((tx) => nextBillNumber(tx, month))\n`,
      },
      { file: closeMonth, find: numberTaken, replace: 'number' },
    ],
  },
]
