// The admin API: one file per resource, one token for all of them.
import { Hono } from 'hono'
import { Refusal, refuse } from '../contract/errors.ts'
import { credentialOf } from '../http/credentials.ts'
import { answerRefusal } from '../http/render-error.ts'
import { accounts } from './accounts.ts'
import { alerts } from './alerts.ts'
import { audits } from './audits.ts'
import { backup } from './backup.ts'
import { bills } from './bills.ts'
import { callbacks } from './callbacks.ts'
import { channels } from './channels.ts'
import { losses } from './losses.ts'
import { models } from './models.ts'
import { priceLists } from './price-lists.ts'
import { pricePreview } from './price-preview.ts'
import { prices } from './prices.ts'
import { requests } from './requests.ts'
import type { AdminApp, AdminDeps, AdminEnv } from './route.ts'
import { statements } from './statements.ts'
import { tasks } from './tasks.ts'
import { tokens } from './tokens.ts'
import { traffic } from './traffic.ts'
import { usage } from './usage.ts'

const resources = [
  accounts,
  tokens,
  channels,
  models,
  prices,
  pricePreview,
  priceLists,
  requests,
  traffic,
  usage,
  tasks,
  callbacks,
  bills,
  losses,
  statements,
  audits,
  alerts,
  backup,
]

export function admin(deps: AdminDeps): AdminApp {
  const app: AdminApp = new Hono<AdminEnv>()
  app.use('*', async ({ env: { exchange } }, next) => {
    const secret = credentialOf(exchange)
    if (secret instanceof Refusal) return answerRefusal(exchange, secret)
    if (secret === undefined || !deps.isAdmin(secret)) {
      return answerRefusal(
        exchange,
        refuse('invalid_api_key', 'this needs the admin token as "Authorization: Bearer <token>"'),
      )
    }
    return next()
  })
  for (const mount of resources) mount(app, deps)
  return app
}
