// gateway token: callers' credentials. The only place that ever prints a secret, and only once.
import { tokenChange, tokenCreation } from '../../admin/people/token-body-schema.ts'
import { listedToken, tokenQuery } from '../../admin/people/token-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import { budgetFlags, budgetIn } from '../terminal/budget-flags.ts'
import type { Command } from '../terminal/command.ts'
import { listCommand } from '../terminal/list.ts'
import { cell, type Row, record } from '../terminal/show.ts'

function stateOf(row: Row): string {
  if (row['disabled'] === true) return 'disabled'
  const expiresAt = row['expires_at']
  return typeof expiresAt === 'string' && Date.parse(expiresAt) < Date.now() ? 'expired' : 'active'
}

/** A flag for each tag. */
const tags = { tags: ['tag', 'NAME=VALUE'] } as const

/** Everything but the secret, should an answer ever hold one. */
const shown = (answer: Row): string => record(answer, ['token'])

export const tokenCommands: readonly Command[] = [
  askCommand({
    path: ['token', 'create'],
    summary: 'make a token for an account and show its secret once',
    call: 'POST /tokens',
    input: {
      schema: tokenCreation,
      without: ['token', 'token_sha256', 'prefix', 'disabled', 'budget'],
      values: { account: 'ID|NAME' },
      repeated: tags,
    },
    flags: budgetFlags,
    body: ({ line }) => budgetIn(line),
    text: (answer) =>
      `${cell(answer['token'])}\n\nKeep it now: this secret is shown only once.\n\n${shown(answer)}`,
  }),
  listCommand(
    { path: ['token', 'list'], summary: 'all tokens, without their secrets' },
    {
      path: '/tokens',
      what: 'tokens',
      item: listedToken,
      query: tokenQuery.omit({ spend: true }),
      own: { state: stateOf },
    },
  ),
  askCommand({
    path: ['token', 'show'],
    args: ['ID'],
    summary: 'one token, with what is spent and held of its budget',
    call: 'GET /tokens/:id',
    text: shown,
  }),
  askCommand({
    path: ['token', 'update'],
    args: ['ID'],
    summary: 'change what a token may do',
    call: 'PATCH /tokens/:id',
    input: { schema: tokenChange, without: ['budget'], repeated: tags },
    flags: budgetFlags,
    body: ({ line }) => budgetIn(line),
    text: shown,
  }),
  askCommand({
    path: ['token', 'revoke'],
    args: ['ID'],
    summary: 'end a token for good',
    call: 'DELETE /tokens/:id',
    text: (_, { line }) => `revoked ${cell(line.arg(0))}`,
  }),
]
