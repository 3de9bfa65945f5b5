// Every call of the admin API, as documents tell of it.
import type { Operation } from '../../http/operation.ts'
import { operationOf } from '../operation.ts'
import { adminRoutes } from '../routes.ts'
import { accountOperations } from './accounts.ts'
import { billOperations } from './bills.ts'
import { channelOperations } from './channels.ts'
import { operateOperations } from './operate.ts'
import { peopleOperations } from './people.ts'
import { priceOperations } from './prices.ts'
import { requestOperations } from './requests.ts'
import { statementOperations } from './statements.ts'
import { tokenOperations } from './tokens.ts'

export const adminOperations: readonly Operation[] = [
  ...accountOperations,
  ...tokenOperations,
  ...channelOperations,
  ...priceOperations,
  ...requestOperations,
  ...adminRoutes.map(operationOf),
  ...billOperations,
  ...statementOperations,
  ...peopleOperations,
  ...operateOperations,
]
