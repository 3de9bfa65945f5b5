// The fault table as cases: every row in every style and mode, each with a model, a channel and an
// account of its own, so that no case can spoil another.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { adminToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { canary, type Fault, type Mode, type Place } from './fault.ts'
import { trusted } from './identities.ts'
import { type Style, streaming, styles } from './styles.ts'

export interface Case {
  title: string
  fault: Fault
  style: Style
  mode: Mode
  model: string
  account: string
  token: string
}

/** Asked on the same connection after every case. */
export const wellModel = 'well'
export const wellToken = 'sk-well-0123456789abcdefghijklmnop'

export function casesOf(faults: readonly Fault[]): Case[] {
  const cases: Case[] = []
  for (const fault of faults) {
    for (const name of fault.styles) {
      for (const mode of fault.modes) {
        if (mode === 'stream' && !streaming.includes(name)) continue
        const model = `m-${cases.length}`
        cases.push({
          title: `${fault.row} ${name} ${mode}: ${fault.name}`,
          fault,
          style: styles[name],
          mode,
          model,
          account: `acct-${cases.length}`,
          token: `sk-fault-${String(cases.length).padStart(24, '0')}`,
        })
      }
    }
  }
  return cases
}

const price = { unit: 'token', per_million: { input: '1.00', output: '2.00' } }

/** `addressOf`: base address without path, for the place a channel leads to. */
export function configOf(
  cases: readonly Case[],
  addressOf: (place: Place | undefined) => string,
): string {
  const channel = (name: string, style: Style, model: string, address: string) => ({
    name,
    keys: [canary],
    protocols: { [style.name]: address + style.basePath },
    models: { [model]: '*' },
  })
  const model = (name: string, style: Style) => ({ name, kind: 'text', interfaces: [style.name] })
  return JSON.stringify({
    accounts: [
      { name: 'well', balance: '100.00' },
      ...cases.map(({ account }) => ({ name: account, balance: '1.00' })),
    ],
    tokens: [
      { account: 'well', name: 'well', token: wellToken },
      ...cases.map(({ account, token }) => ({ account, name: 'test', token })),
    ],
    channels: [
      channel('well', styles.chat, wellModel, addressOf(undefined)),
      ...cases.map(({ model, style, fault }) => ({
        ...channel(`c-${model}`, style, model, addressOf(fault.at)),
        ...(fault.timeouts !== undefined && { timeouts: fault.timeouts }),
      })),
    ],
    models: [
      model(wellModel, styles.chat),
      ...cases.map(({ model: name, style }) => model(name, style)),
    ],
    prices: [wellModel, ...cases.map(({ model }) => model)].map((name) => ({
      model: name,
      ...price,
    })),
  })
}

/** A gateway that trusts the authorities of the tests, so that a refusal has one reason only. */
export async function startTrusting(config: string): Promise<TestGateway> {
  const path = join(tempDir(), 'authorities.pem')
  writeFileSync(path, trusted)
  const gateway = await startGateway({ config, env: { NODE_EXTRA_CA_CERTS: path } })
  return { ...gateway, admin: (...parts) => adminOnce(gateway.url, ...parts) }
}

/** The admin API without kept connections, which would count as open sockets of the gateway. */
async function adminOnce(url: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    keepalive: false,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}
