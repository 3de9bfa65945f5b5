// The routes of the admin API by the first part of their paths. The code behind each part is loaded with
// the first call to it: a gateway that serves calls needs none of it, and its schemas take much memory.
import type { AdminRoute } from './route.ts'

type Load = () => Promise<readonly AdminRoute[]>

const accountRoutes: Load = () =>
  import('./money/accounts.ts').then((module) => module.accountRoutes)
const tokenRoutes: Load = () => import('./people/tokens.ts').then((module) => module.tokenRoutes)
const channelRoutes: Load = () =>
  import('./catalog/channels.ts').then((module) => module.channelRoutes)
const channelImportRoutes: Load = () =>
  import('./catalog/channel-import.ts').then((module) => module.channelImportRoutes)
const discoveryRoutes: Load = () =>
  import('./channels/discovery.ts').then((module) => module.discoveryRoutes)
const presetRoutes: Load = () =>
  import('./channels/presets.ts').then((module) => module.presetRoutes)
const modelRoutes: Load = () => import('./catalog/models.ts').then((module) => module.modelRoutes)
const priceRoutes: Load = () => import('./catalog/prices.ts').then((module) => module.priceRoutes)
const costRoutes: Load = () => import('./catalog/costs.ts').then((module) => module.costRoutes)
const pricePreviewRoutes: Load = () =>
  import('./catalog/price-preview.ts').then((module) => module.pricePreviewRoutes)
const priceListRoutes: Load = () =>
  import('./catalog/price-lists.ts').then((module) => module.priceListRoutes)
const priceSourceRoutes: Load = () =>
  import('./price-sources/convert.ts').then((module) => module.priceSourceRoutes)
const requestRoutes: Load = () =>
  import('./traffic/requests.ts').then((module) => module.requestRoutes)
const trafficRoutes: Load = () =>
  import('./traffic/traffic.ts').then((module) => module.trafficRoutes)
const usageRoutes: Load = () => import('./traffic/usage.ts').then((module) => module.usageRoutes)
const taskSummaryRoutes: Load = () =>
  import('./tasks/task-summary.ts').then((module) => module.taskSummaryRoutes)
const taskRoutes: Load = () => import('./tasks/tasks.ts').then((module) => module.taskRoutes)
const taskActionRoutes: Load = () =>
  import('./tasks/task-actions.ts').then((module) => module.taskActionRoutes)
const batchRoutes: Load = () => import('./batches/batches.ts').then((module) => module.batchRoutes)
const callbackRoutes: Load = () =>
  import('./tasks/callbacks.ts').then((module) => module.callbackRoutes)
const billRoutes: Load = () => import('./money/bills.ts').then((module) => module.billRoutes)
const billTotalRoutes: Load = () =>
  import('./closing/totals.ts').then((module) => module.billTotalRoutes)
const closeAllRoutes: Load = () =>
  import('./closing/close-all.ts').then((module) => module.closeAllRoutes)
const billLinkRoutes: Load = () =>
  import('./closing/links.ts').then((module) => module.billLinkRoutes)
const monthFileRoutes: Load = () =>
  import('./closing/month-file.ts').then((module) => module.monthFileRoutes)
const sendAllRoutes: Load = () =>
  import('./closing/send-all.ts').then((module) => module.sendAllRoutes)
const focusRoutes: Load = () => import('./closing/focus.ts').then((module) => module.focusRoutes)
const codeRoutes: Load = () => import('./money/codes.ts').then((module) => module.codeRoutes)
const issuerRoutes: Load = () => import('./closing/issuer.ts').then((module) => module.issuerRoutes)
const lossRoutes: Load = () => import('./money/losses.ts').then((module) => module.lossRoutes)
const refundRoutes: Load = () =>
  import('./traffic/refunds.ts').then((module) => module.refundRoutes)
const statementRoutes: Load = () =>
  import('./money/statements.ts').then((module) => module.statementRoutes)
const monthRoutes: Load = () => import('./months/months.ts').then((module) => module.monthRoutes)
const pullRoutes: Load = () => import('./money/pull.ts').then((module) => module.pullRoutes)
const sessionRoutes: Load = () =>
  import('./people/sessions.ts').then((module) => module.sessionRoutes)
const signOutRoutes: Load = () =>
  import('./oidc/sign-out.ts').then((module) => module.signOutRoutes)
const oidcRoutes: Load = () => import('./oidc/oidc.ts').then((module) => module.oidcRoutes)
const peopleRoutes: Load = () => import('./people/people.ts').then((module) => module.peopleRoutes)
const invitationRoutes: Load = () =>
  import('./invitations/invitations.ts').then((module) => module.invitationRoutes)
const acceptRoutes: Load = () =>
  import('./invitations/accept.ts').then((module) => module.acceptRoutes)
const auditRoutes: Load = () => import('./money/audits.ts').then((module) => module.auditRoutes)
const alertRoutes: Load = () => import('./system/alerts.ts').then((module) => module.alertRoutes)
const webhookRoutes: Load = () =>
  import('./notices/webhooks.ts').then((module) => module.webhookRoutes)
const healthRoutes: Load = () => import('./system/health.ts').then((module) => module.healthRoutes)
const searchRoutes: Load = () => import('./system/search.ts').then((module) => module.searchRoutes)
const settingsRoutes: Load = () =>
  import('./system/settings.ts').then((module) => module.settingsRoutes)
const backupRoutes: Load = () => import('./system/backup.ts').then((module) => module.backupRoutes)
const reloadRoutes: Load = () => import('./system/reload.ts').then((module) => module.reloadRoutes)

/** Where two paths fit, the first one is taken. */
const parts: Readonly<Record<string, readonly Load[]>> = {
  accounts: [accountRoutes, callbackRoutes],
  alerts: [alertRoutes],
  audit: [auditRoutes],
  'audit-log': [auditRoutes],
  backup: [backupRoutes],
  batches: [batchRoutes],
  bills: [
    billRoutes,
    billTotalRoutes,
    closeAllRoutes,
    billLinkRoutes,
    monthFileRoutes,
    sendAllRoutes,
  ],
  'callback-secret': [callbackRoutes],
  callbacks: [callbackRoutes],
  channels: [channelRoutes, channelImportRoutes, discoveryRoutes, presetRoutes, pullRoutes],
  codes: [codeRoutes],
  costs: [costRoutes],
  diagnostics: [healthRoutes],
  explain: [requestRoutes],
  exports: [focusRoutes],
  health: [healthRoutes],
  invitations: [invitationRoutes, acceptRoutes],
  issuer: [issuerRoutes],
  losses: [lossRoutes],
  models: [modelRoutes],
  months: [monthRoutes],
  oidc: [oidcRoutes],
  people: [peopleRoutes, invitationRoutes],
  presets: [presetRoutes],
  prices: [priceRoutes, pricePreviewRoutes, priceListRoutes, priceSourceRoutes],
  reload: [reloadRoutes],
  requests: [requestRoutes, refundRoutes],
  search: [searchRoutes],
  session: [sessionRoutes, signOutRoutes, oidcRoutes],
  settings: [settingsRoutes],
  setup: [sessionRoutes],
  statements: [statementRoutes],
  tasks: [taskSummaryRoutes, taskRoutes, taskActionRoutes, refundRoutes, callbackRoutes],
  tokens: [tokenRoutes],
  traffic: [trafficRoutes],
  usage: [usageRoutes],
  webhooks: [webhookRoutes],
}

/** Of `/tokens/:id` it is `tokens`. */
export const partOf = (path: string): string => {
  const part = path.split('/', 2)[1] ?? ''
  return Object.hasOwn(parts, part) ? part : ''
}

/** Empty for a part that there is not. */
export async function loadRoutes(part: string): Promise<readonly AdminRoute[]> {
  const loaded = await Promise.all((parts[part] ?? []).map((load) => load()))
  return loaded.flat()
}
