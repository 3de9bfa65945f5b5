// The moderations interface as documents describe it; the request comes from the table that the parser uses.
import type { Operation } from '../../http/operation.ts'
import { flag, list, named, object, open, text } from '../../http/schema.ts'
import { textOperation } from '../text/operations.ts'
import { schemaOf } from '../text/request-fields.ts'
import { moderationsFields } from './request-fields.ts'

const judged = named(
  'Moderations',
  object(
    {
      id: text(),
      model: text(),
      results: list(
        object(
          { flagged: flag(), categories: object({}, open), category_scores: object({}, open) },
          open,
        ),
      ),
    },
    open,
  ),
)

export const moderationsOperations: readonly Operation[] = [
  textOperation({
    id: 'createModeration',
    path: '/v1/moderations',
    tag: 'Rerank and moderation',
    summary: 'Judge texts and images by categories of harm',
    description: 'One result for each text of a list; the answer is that of the upstream.',
    body: named('ModerationRequest', schemaOf(moderationsFields)),
    examples: {
      text: { model: 'mdra-plus', input: 'a harmless sentence' },
      texts: { model: 'mdra-plus', input: ['first text', 'second text'] },
    },
    answer: judged,
  }),
]
