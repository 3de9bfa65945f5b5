// Moderation: whether texts and images fall into categories of harm.
import { keysIn } from '../text/request-fields.ts'
import { textSurface } from '../text/serve.ts'
import { parseModerations } from './parse.ts'
import { moderationsFields } from './request-fields.ts'

export const moderations = textSurface(
  {
    name: 'moderations',
    path: '/v1/moderations',
    models: { kind: 'moderation', clientWords: [], question: { input: 'ping' } },
    keys: keysIn(moderationsFields),
    parse: parseModerations,
    mayBeFree: true,
    errorEvent: (errorBody) => `data: ${errorBody}\n\n`,
  },
  async () => (await import('./operations.ts')).moderationsOperations,
)
