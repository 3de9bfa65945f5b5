// Reads gateway.yaml again, as SIGHUP does, and says what changed in it or why nothing did.
import { refuse } from '../../contract/errors.ts'
import { auditChange } from '../answers.ts'
import type { Ask } from '../route.ts'
import { gatewayRoute } from './settings.ts'
import { reload as reloadSchema } from './system-schema.ts'

async function reloadFile({ deps, engine, x }: Ask) {
  const outcome = await deps.reload?.()
  if (outcome === undefined) return refuse('not_found', 'there is no process to reload here')
  if (outcome.kind === 'refused') return refuse('invalid_request', outcome.reason)
  const { file, changes } = outcome
  const after = { changes: changes.slice(0, maxAudited) }
  await engine.store.tx((tx) => auditChange(tx, x, { action: 'reload', subject: 'gateway', after }))
  return { file, changes }
}

const maxAudited = 100

export const reloadRoutes = [
  gatewayRoute('POST /reload', {
    id: 'reloadFile',
    summary: 'Read the configuration file again',
    description: 'As SIGHUP does: what the file says now takes over as a whole, or not at all.',
    answer: reloadSchema,
    returns: 'What changed in the file.',
    handle: reloadFile,
  }),
]
