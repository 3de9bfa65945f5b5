// The table of all commands. Help, suggestions and dispatch are made from it.
import packageJson from '../../package.json'
import { accountCommands } from './admin/accounts.ts'
import { auditCommands } from './admin/audits.ts'
import { backupCommands } from './admin/backup.ts'
import { billCommands } from './admin/bills.ts'
import { channelCommands, presetCommands } from './admin/channels.ts'
import { healthCommand } from './admin/health.ts'
import { lossCommands } from './admin/losses.ts'
import { personCommands } from './admin/people.ts'
import { priceListCommands } from './admin/price-lists.ts'
import { priceCommands } from './admin/prices.ts'
import { reconcileCommands } from './admin/reconcile.ts'
import { requestCommands } from './admin/requests.ts'
import { searchCommand } from './admin/search.ts'
import { taskCommands } from './admin/tasks.ts'
import { tokenCommands } from './admin/tokens.ts'
import { callCommands } from './calls/call.ts'
import { callImageCommand } from './calls/call-image.ts'
import { callVideoCommand } from './calls/call-video.ts'
import { verifyCommands } from './calls/verify.ts'
import { alertCommands } from './notices/alerts.ts'
import { callbackCommands } from './notices/callbacks.ts'
import { webhookCommands } from './notices/webhooks.ts'
import type { Command } from './terminal/command.ts'
import type { Elsewhere } from './terminal/parse-line.ts'

/** Answered by bin/gateway before this program is started; listed so that help is complete. */
export const elsewhere: readonly Elsewhere[] = [
  { name: 'start', summary: 'run the gateway (the default)' },
  { name: 'dev', summary: 'run it and restart on every change of its code' },
  { name: 'sandbox', summary: 'run the upstream simulator alone' },
  { name: 'doctor', summary: 'look at all that a gateway with these settings needs' },
  { name: 'check', summary: 'check FILE: whether a gateway would take this configuration file' },
  { name: 'restore', summary: 'put a backup into a new database' },
  { name: 'db', summary: 'db copy --to URL: the whole database into another, such as PostgreSQL' },
]

const versionCommand: Command = {
  path: ['version'],
  args: [],
  summary: 'which version this is',
  flags: {},
  async run() {
    const { version } = packageJson
    return { answer: { version }, text: version }
  },
}

const helpCommand: Command = {
  path: ['help'],
  args: ['[COMMAND]'],
  summary: 'this page, or the page of a command',
  flags: {},
  // The parser answers help itself; the row is here to be listed.
  run: async () => ({ answer: null, text: '' }),
}

export const commands: readonly Command[] = [
  ...accountCommands,
  ...tokenCommands,
  ...personCommands,
  ...channelCommands,
  ...presetCommands,
  ...priceCommands,
  ...priceListCommands,
  ...requestCommands,
  ...taskCommands,
  ...callbackCommands,
  ...billCommands,
  ...verifyCommands,
  ...lossCommands,
  ...reconcileCommands,
  ...auditCommands,
  ...alertCommands,
  ...webhookCommands,
  ...backupCommands,
  ...callCommands,
  callVideoCommand,
  callImageCommand,
  healthCommand,
  searchCommand,
  helpCommand,
  versionCommand,
]
