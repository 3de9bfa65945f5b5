// A command that makes one call of the admin API and prints the answer.
import type { Command, Context } from './command.ts'
import { segment } from './list.ts'
import { type Row, record, rowOf } from './show.ts'

interface AskSpec extends Partial<Pick<Command, 'args' | 'flags'>> {
  path: Command['path']
  summary: string
  /** `GET /accounts/:id`, where `:id` is the first argument. */
  call: string
  query?(context: Context): Readonly<Record<string, string | undefined>>
  body?(context: Context): unknown
  /** The answer for a person; field by field unless given. */
  text?(answer: Row, context: Context): string
  /** Whether the answer is a good one. */
  ok?(answer: Row): boolean
}

export const askCommand = ({
  call,
  query,
  body,
  text = (row) => record(row),
  ok,
  ...rest
}: AskSpec): Command => ({
  args: [],
  flags: {},
  ...rest,
  async run(context) {
    const [method = '', pattern = ''] = call.split(' ')
    const path = pattern.replace(':id', () => segment(context.line.arg(0)))
    const answer = await context.admin.ask(method, path, {
      ...(query !== undefined && { query: query(context) }),
      ...(body !== undefined && { body: body(context) }),
    })
    const row = rowOf(answer)
    return { answer, text: text(row, context), ...(ok !== undefined && { ok: ok(row) }) }
  },
})
