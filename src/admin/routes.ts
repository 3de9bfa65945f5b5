// Every call of the admin API. Where two paths fit, the first one in this list is taken.
import { batchRoutes } from './batches/batches.ts'
import { channelImportRoutes } from './catalog/channel-import.ts'
import { channelRoutes } from './catalog/channels.ts'
import { costRoutes } from './catalog/costs.ts'
import { modelRoutes } from './catalog/models.ts'
import { priceListRoutes } from './catalog/price-lists.ts'
import { pricePreviewRoutes } from './catalog/price-preview.ts'
import { priceRoutes } from './catalog/prices.ts'
import { discoveryRoutes } from './channels/discovery.ts'
import { presetRoutes } from './channels/presets.ts'
import { closeAllRoutes } from './closing/close-all.ts'
import { focusRoutes } from './closing/focus.ts'
import { issuerRoutes } from './closing/issuer.ts'
import { billLinkRoutes } from './closing/links.ts'
import { monthFileRoutes } from './closing/month-file.ts'
import { sendAllRoutes } from './closing/send-all.ts'
import { billTotalRoutes } from './closing/totals.ts'
import { acceptRoutes } from './invitations/accept.ts'
import { invitationRoutes } from './invitations/invitations.ts'
import { accountRoutes } from './money/accounts.ts'
import { auditRoutes } from './money/audits.ts'
import { billRoutes } from './money/bills.ts'
import { codeRoutes } from './money/codes.ts'
import { lossRoutes } from './money/losses.ts'
import { pullRoutes } from './money/pull.ts'
import { statementRoutes } from './money/statements.ts'
import { monthRoutes } from './months/months.ts'
import { webhookRoutes } from './notices/webhooks.ts'
import { oidcRoutes } from './oidc/oidc.ts'
import { signOutRoutes } from './oidc/sign-out.ts'
import { peopleRoutes } from './people/people.ts'
import { sessionRoutes } from './people/sessions.ts'
import { tokenRoutes } from './people/tokens.ts'
import { priceSourceRoutes } from './price-sources/convert.ts'
import type { AdminRoute } from './route.ts'
import { alertRoutes } from './system/alerts.ts'
import { backupRoutes } from './system/backup.ts'
import { healthRoutes } from './system/health.ts'
import { reloadRoutes } from './system/reload.ts'
import { searchRoutes } from './system/search.ts'
import { settingsRoutes } from './system/settings.ts'
import { callbackRoutes } from './tasks/callbacks.ts'
import { taskActionRoutes } from './tasks/task-actions.ts'
import { taskSummaryRoutes } from './tasks/task-summary.ts'
import { taskRoutes } from './tasks/tasks.ts'
import { refundRoutes } from './traffic/refunds.ts'
import { requestRoutes } from './traffic/requests.ts'
import { trafficRoutes } from './traffic/traffic.ts'
import { usageRoutes } from './traffic/usage.ts'

export const adminRoutes: readonly AdminRoute[] = [
  ...accountRoutes,
  ...tokenRoutes,
  ...channelRoutes,
  ...channelImportRoutes,
  ...discoveryRoutes,
  ...presetRoutes,
  ...modelRoutes,
  ...priceRoutes,
  ...costRoutes,
  ...pricePreviewRoutes,
  ...priceListRoutes,
  ...priceSourceRoutes,
  ...requestRoutes,
  ...trafficRoutes,
  ...usageRoutes,
  // Before the tasks themselves: `summary` is no id.
  ...taskSummaryRoutes,
  ...taskRoutes,
  ...taskActionRoutes,
  ...batchRoutes,
  ...refundRoutes,
  ...codeRoutes,
  ...issuerRoutes,
  ...callbackRoutes,
  ...billRoutes,
  ...billTotalRoutes,
  ...closeAllRoutes,
  ...billLinkRoutes,
  ...monthFileRoutes,
  ...sendAllRoutes,
  ...focusRoutes,
  ...lossRoutes,
  ...statementRoutes,
  ...pullRoutes,
  ...monthRoutes,
  ...sessionRoutes,
  ...signOutRoutes,
  ...oidcRoutes,
  ...peopleRoutes,
  ...invitationRoutes,
  ...acceptRoutes,
  ...auditRoutes,
  ...alertRoutes,
  ...webhookRoutes,
  ...healthRoutes,
  ...searchRoutes,
  ...settingsRoutes,
  ...backupRoutes,
  ...reloadRoutes,
]
