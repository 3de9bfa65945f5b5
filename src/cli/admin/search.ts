// gateway search: everything that has a name, by a part of it.
import { searchHit } from '../../admin/system/search-schema.ts'
import { askCommand } from '../terminal/ask.ts'
import { columnsOf } from '../terminal/columns.ts'
import { rowsOf, table } from '../terminal/show.ts'

export const searchCommand = askCommand({
  path: ['search'],
  args: ['TEXT'],
  summary: 'accounts, tokens, people, models and channels by a part of their name',
  call: 'GET /search',
  query: ({ line }) => ({ q: line.arg(0) }),
  text: (answer) => {
    const rows = rowsOf(answer)
    return rows.length === 0 ? 'nothing found' : table(rows, columnsOf(searchHit))
  },
})
