// What a search finds, as the admin API tells of it.
import { z } from 'zod'
import { column, pageOf, query } from '../schema.ts'

const kinds = ['account', 'token', 'person', 'model', 'channel'] as const

export const searchHit = z
  .object({
    kind: column(z.enum(kinds)),
    id: column(z.string()).describe('Models have their name as id.'),
    name: column(z.string()),
    account: column(z.string().nullable()).describe('The account it belongs to.'),
    display_name: z.string().exactOptional().describe('Of an account that has one.'),
  })
  .meta({ id: 'SearchHit' })
export const searchHits = pageOf(searchHit, 'SearchHitList')

export const searchQuery = z.object({
  q: query.text('A part of a name, whatever the case of its letters.', 'TEXT'),
})

export type SearchHit = z.infer<typeof searchHit>
