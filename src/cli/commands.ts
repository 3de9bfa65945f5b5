// The table of all commands. Help, suggestions and dispatch are made from it.
import packageJson from '../../package.json'
import { accountCommands } from './accounts.ts'
import { alertCommands } from './alerts.ts'
import { auditCommands } from './audits.ts'
import { backupCommands } from './backup.ts'
import { billCommands } from './bills.ts'
import { callCommands } from './call.ts'
import { callImageCommand } from './call-image.ts'
import { callVideoCommand } from './call-video.ts'
import { callbackCommands } from './callbacks.ts'
import { channelCommands } from './channels.ts'
import type { Command } from './command.ts'
import { exportCommands } from './exports.ts'
import { healthCommand } from './health.ts'
import { lossCommands } from './losses.ts'
import type { Elsewhere } from './parse-line.ts'
import { priceListCommands } from './price-lists.ts'
import { priceCommands } from './prices.ts'
import { reconcileCommands } from './reconcile.ts'
import { requestCommands } from './requests.ts'
import { taskCommands } from './tasks.ts'
import { tokenCommands } from './tokens.ts'
import { verifyCommands } from './verify.ts'

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
  ...channelCommands,
  ...priceCommands,
  ...priceListCommands,
  ...requestCommands,
  ...taskCommands,
  ...callbackCommands,
  ...billCommands,
  ...verifyCommands,
  ...lossCommands,
  ...reconcileCommands,
  ...exportCommands,
  ...auditCommands,
  ...alertCommands,
  ...backupCommands,
  ...callCommands,
  callVideoCommand,
  callImageCommand,
  healthCommand,
  helpCommand,
  versionCommand,
]
