// The table of all commands. Help, suggestions and dispatch are made from it.
import packageJson from '../../package.json'
import { accountCommands } from './admin/accounts.ts'
import { auditCommands } from './admin/audits.ts'
import { backupCommands } from './admin/backup.ts'
import { billCommands } from './admin/bills.ts'
import { channelMonthCommands } from './admin/channel-months.ts'
import { channelCommands, presetCommands } from './admin/channels.ts'
import { codeCommands } from './admin/codes.ts'
import { healthCommand } from './admin/health.ts'
import { lossCommands } from './admin/losses.ts'
import { monthCommands } from './admin/months.ts'
import { personCommands } from './admin/people.ts'
import { priceListCommands } from './admin/price-lists.ts'
import { priceCommands } from './admin/prices.ts'
import { reconcileCommands } from './admin/reconcile.ts'
import { reloadCommand } from './admin/reload.ts'
import { requestCommands } from './admin/requests.ts'
import { searchCommand } from './admin/search.ts'
import { taskCommands } from './admin/tasks.ts'
import { tokenCommands } from './admin/tokens.ts'
import { callCommands } from './calls/call.ts'
import { callImageCommand } from './calls/call-image.ts'
import { callVideoCommand } from './calls/call-video.ts'
import { usageCommand } from './calls/usage.ts'
import { verifyCommands } from './calls/verify.ts'
import { completionCommand } from './completion/command.ts'
import { importCommands } from './movers/command.ts'
import { alertCommands } from './notices/alerts.ts'
import { callbackCommands } from './notices/callbacks.ts'
import { webhookCommands } from './notices/webhooks.ts'
import type { Command, Flags } from './terminal/command.ts'
import type { Elsewhere } from './terminal/parse-line.ts'

/** Answered by bin/gateway before this program is started; listed so that help is complete. */
const help: Flags = { help: { summary: 'show help, also -h' } }
const json: Flags = { json: { summary: 'print JSON and nothing else' } }
const settings =
  'It takes no flags: settings come from environment variables (GATEWAY_PORT, GATEWAY_DATA_DIR, …) and from\n' +
  'gateway.yaml. gateway reload (or SIGHUP) reads the file again, SIGTERM lets running answers end.'

export const elsewhere: readonly Elsewhere[] = [
  { name: 'start', summary: 'run the gateway (the default)', flags: help, more: settings },
  {
    name: 'dev',
    summary: 'run it and restart on every change of its code',
    flags: help,
    more: settings,
  },
  {
    name: 'sandbox',
    summary: 'run the upstream simulator alone',
    flags: {
      port: { value: 'PORT', summary: 'where it listens; 9090 if left out, 0 takes a free one' },
      host: { value: 'HOST', summary: '127.0.0.1 if left out' },
      key: { value: 'KEY', summary: 'the key that callers must send; any if left out' },
      rates: {
        value: 'MODEL=INPUT:OUTPUT,…',
        summary: 'dollars for a million tokens; it then gives statements of what it served',
      },
      ...help,
    },
  },
  {
    name: 'demo',
    summary: 'run a gateway with the history of a company that does not exist',
    flags: {
      port: { value: 'PORT', summary: 'where it listens; 8080 if left out, 0 takes a free one' },
      seed: { value: 'N', summary: 'another history; 1 if left out' },
      keep: { value: 'DIR', summary: 'keep everything in this directory, and go on with it' },
      ...help,
    },
  },
  {
    name: 'doctor',
    summary: 'look at all that a gateway with these settings needs',
    flags: { ...json, offline: { summary: 'reach no channel' }, ...help },
  },
  {
    name: 'check',
    args: ['[FILE]'],
    summary: 'whether a gateway would take this configuration file',
    flags: { strict: { summary: 'a variable that is not set is a problem' }, ...json, ...help },
  },
  { name: 'restore', args: ['FILE'], summary: 'put a backup into a new database', flags: help },
  {
    name: 'db',
    args: ['copy'],
    summary: 'copy the whole database into another, such as PostgreSQL',
    flags: { to: { value: 'URL', summary: 'the other one, which must be new' }, ...help },
  },
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
  ...importCommands,
  ...requestCommands,
  ...taskCommands,
  ...callbackCommands,
  ...billCommands,
  ...monthCommands,
  ...verifyCommands,
  ...codeCommands,
  ...lossCommands,
  ...reconcileCommands,
  ...channelMonthCommands,
  ...auditCommands,
  ...alertCommands,
  ...webhookCommands,
  ...backupCommands,
  ...callCommands,
  callVideoCommand,
  callImageCommand,
  usageCommand,
  healthCommand,
  reloadCommand,
  searchCommand,
  completionCommand(() => commands, elsewhere),
  helpCommand,
  versionCommand,
]
