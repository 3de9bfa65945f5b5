// The two documents: the caller API and the admin API.
import packageJson from '../../package.json'
import { operationOf } from '../admin/operation.ts'
import { adminRoutes } from '../admin/routes.ts'
import { createDialects } from '../http/dialect.ts'
import type { Operation } from '../http/operation.ts'
import { dialects, surfaces } from '../surfaces/index.ts'
import { buildDocument, type OpenApi } from './document.ts'
import { gatewayOperations } from './gateway-operations.ts'

export const adminOperations = adminRoutes.map(operationOf)

export const dataOperations = async (): Promise<readonly Operation[]> => [
  ...(await Promise.all(surfaces.map((surface) => surface.operations()))).flat(),
  ...gatewayOperations,
]

const { version } = packageJson

export const dataDocument = async (url: string): Promise<OpenApi> =>
  buildDocument({
    title: 'Model Gateway',
    version,
    url,
    description:
      'Text, vision, embeddings, images and videos through one token and plain model names. Every ' +
      'answer carries a request id. A field that is `null` counts as absent; fields that are not ' +
      'named are ignored or passed on, as the operation says.',
    operations: await dataOperations(),
    dialects,
  })

export const adminDocument = (url: string): OpenApi =>
  buildDocument({
    title: 'Model Gateway: admin API',
    version,
    url,
    description:
      'Accounts, tokens, channels, prices, tasks, bills and proof. Money is a decimal in quotes, ' +
      'times are RFC 3339. Unknown fields of a body are refused by name.',
    operations: adminOperations,
    dialects: createDialects([]),
  })
