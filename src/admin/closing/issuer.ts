// Who sends the bills. What gateway.yaml declares is changed there.
import { z } from 'zod'
import { issuerDeclaration } from '../../contract/config-schema/issuer.ts'
import { refuse } from '../../contract/errors.ts'
import { findIssuer, setIssuer } from '../../store/catalog/issuer.ts'
import { auditChange } from '../answers.ts'
import { forFinance, forStaff } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { source } from '../schema.ts'

const issuerAnswer = z
  .object({ issuer: issuerDeclaration.nullable(), source: source.nullable() })
  .meta({ id: 'Issuer' })

async function show({ engine }: Ask) {
  const declared = engine.declared.file.issuer
  if (declared !== undefined) return { issuer: declared, source: 'file' as const }
  const issuer = await findIssuer(engine.store.read)
  return { issuer, source: issuer === null ? null : ('api' as const) }
}

async function put({ engine, body, x }: Ask<{ body: typeof issuerDeclaration }>) {
  if (engine.declared.file.issuer !== undefined) {
    return refuse('conflict', "'issuer' is declared in the configuration file; change it there")
  }
  await engine.store.tx(async (tx) => {
    const before = (await findIssuer(tx)) ?? {}
    await setIssuer(tx, body)
    await auditChange(tx, x, { action: 'issuer.update', subject: 'issuer', before, after: body })
  })
  return { issuer: body, source: 'api' as const }
}

const route = routesOf({ tag: 'Bills', thing: 'issuer', permission: forFinance })

export const issuerRoutes = [
  route('GET /issuer', {
    id: 'getIssuer',
    permission: forStaff,
    summary: 'Who sends the bills',
    answer: issuerAnswer,
    handle: show,
  }),
  route('PUT /issuer', {
    id: 'setIssuer',
    summary: 'Say who sends the bills that are closed from now on',
    body: issuerDeclaration,
    examples: {
      plain: { name: 'Example Ltd', address: '1 Example Street\nExampleton', tax_id: 'EX123456' },
    },
    answer: issuerAnswer,
    refusals: ['conflict'],
    handle: put,
  }),
]
