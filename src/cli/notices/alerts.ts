// gateway alerts: what an administrator must act on, and resolving it.
import { alert, alertQuery } from '../../admin/system/system-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import type { Command } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell } from '../terminal/show.ts'

export const alertCommands: readonly Command[] = [
  listCommand(
    { path: ['alerts'], summary: 'what an administrator must act on, newest first' },
    { path: '/alerts', what: 'alerts', item: alert, query: alertQuery },
  ),
  askCommand({
    path: ['alerts', 'acknowledge'],
    args: ['ID'],
    summary: 'acknowledge an alert; it stays open',
    call: 'POST /alerts/:id/acknowledge',
    text: ({ id, acknowledged_by }) => `${cell(id)}  acknowledged by ${cell(acknowledged_by)}`,
  }),
  askCommand({
    path: ['alerts', 'resolve'],
    args: ['ID'],
    summary: 'resolve an alert; an account whose books add up again goes on',
    flags: { force: { summary: 'let the account go on although its books do not add up' } },
    call: 'POST /alerts/:id/resolve',
    body: ({ line }) => (line.on('force') ? { force: true } : {}),
    text: ({ id, resolved_at }) => `${cell(id)}  resolved ${cell(resolved_at)}`,
  }),
]
