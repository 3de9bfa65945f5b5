// A command that makes one call of the admin API and prints the answer.
import { type Input, inputFlags, inputOf } from './body.ts'
import type { Command, Context } from './command.ts'
import { segment } from './list.ts'
import { type Row, record, rowOf } from './show.ts'
import { misuse } from './stop.ts'

interface AskSpec extends Partial<Pick<Command, 'args' | 'flags'>> {
  path: Command['path']
  summary: string
  /** `GET /accounts/:id`, where `:id` is the first argument. */
  call: string
  /** The body, from flags that its schema tells. */
  input?: Input
  query?(context: Context): Readonly<Record<string, string | undefined>>
  /** The body, or what is in it besides the input. */
  body?(context: Context): object
  /** The answer for a person; field by field unless given. */
  text?(answer: Row, context: Context): string
  /** Whether the answer is a good one. */
  ok?(answer: Row): boolean
}

export const askCommand = ({
  call,
  input,
  query,
  body,
  text = (row) => record(row),
  ok,
  flags = {},
  ...rest
}: AskSpec): Command => ({
  args: [],
  flags: { ...(input !== undefined && inputFlags(input)), ...flags },
  ...rest,
  async run(context) {
    const [method = '', pattern = ''] = call.split(' ')
    const bodyOf = () => {
      const sent = { ...(input && inputOf(input, context.line)), ...body?.(context) }
      const isEmpty = Object.values(sent).every((value) => value === undefined)
      if (method !== 'PATCH' || !isEmpty) return sent
      throw misuse(`nothing to change; see gateway ${rest.path.join(' ')} --help`)
    }
    const path = pattern.replace(':id', () => segment(context.line.arg(0)))
    const answer = await context.admin.ask(method, path, {
      ...(query !== undefined && { query: query(context) }),
      ...((input ?? body) !== undefined && { body: bodyOf() }),
    })
    const row = rowOf(answer)
    return { answer, text: text(row, context), ...(ok !== undefined && { ok: ok(row) }) }
  },
})
