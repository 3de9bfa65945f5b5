// gateway audit and gateway audit-log: do the books agree, and who changed what.
import { type Command, pageFlags } from './command.ts'
import { list } from './list.ts'
import { cell, column, nameOf, rowOf, rowsOf, table } from './show.ts'

const countOf = (value: unknown): string => cell(Array.isArray(value) ? value.length : value)

function auditText(answer: unknown): string {
  const row = rowOf(answer)
  const scope = `${countOf(row['accounts'])} accounts, ${countOf(row['entries'])} entries`
  if (row['ok'] === true) return `ok: ${scope} recomputed`
  const problems = rowsOf(row['problems'])
  const head = `not ok: ${scope} recomputed, ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`
  if (problems.length === 0) return head
  const account = { title: 'account', value: (each: typeof row) => nameOf(each['account']) }
  return `${head}\n\n${table(problems, [account, column('problem')])}`
}

export const auditCommands: readonly Command[] = [
  {
    path: ['audit'],
    args: [],
    summary: 'recompute every balance from its entries',
    flags: {},
    async run({ admin }) {
      const answer = await admin.ask('POST', '/audit')
      return { answer, text: auditText(answer), ok: rowOf(answer)['ok'] === true }
    },
  },
  {
    path: ['audit-log'],
    args: [],
    summary: 'who changed what, before and after',
    flags: pageFlags,
    run: (context) =>
      list(context, {
        path: '/audit-log',
        what: 'changes',
        columns: [
          column('at'),
          { title: 'who', value: (row) => cell(row['actor'] ?? row['who']) },
          column('action'),
          { title: 'what', value: (row) => cell(row['target'] ?? row['subject'] ?? row['what']) },
          column('before'),
          column('after'),
        ],
      }),
  },
]
