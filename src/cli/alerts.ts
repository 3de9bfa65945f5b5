// gateway alerts: what an administrator must look at, and saying that it was looked at.
import { type Command, pageFlags } from './command.ts'
import { list, segment } from './legacy-list.ts'
import { cell, column, numberColumn, rowOf } from './show.ts'

export const alertCommands: readonly Command[] = [
  {
    path: ['alerts'],
    args: [],
    summary: 'what somebody must look at, newest first',
    flags: {
      kind: { value: 'KIND', summary: 'of this kind, such as books' },
      all: { summary: 'also those that were resolved' },
      ...pageFlags,
    },
    run: (context) =>
      list(context, {
        path: '/alerts',
        what: 'alerts',
        query: {
          kind: context.line.text('kind'),
          all: context.line.on('all') ? 'true' : undefined,
        },
        columns: [
          column('id', 'alert'),
          column('kind'),
          column('subject', 'about'),
          column('since'),
          numberColumn('times'),
          column('message'),
          ...(context.line.on('all') ? [column('resolved_at', 'resolved')] : []),
        ],
      }),
  },
  {
    path: ['alerts', 'resolve'],
    args: ['ID'],
    summary: 'say that it was looked at; an account whose books add up again goes on',
    flags: { force: { summary: 'let the account go on although its books do not add up' } },
    async run({ line, admin }) {
      const path = `/alerts/${segment(line.arg(0))}/resolve`
      const body = line.on('force') ? { force: true } : {}
      const answer = await admin.ask('POST', path, { body })
      const alert = rowOf(answer)
      return { answer, text: `${cell(alert['id'])}  resolved ${cell(alert['resolved_at'])}` }
    },
  },
]
