// Network settings: where the gateway listens, which proxies it trusts, what it may reach. Also the
// messages for a wrong value, which other settings share.

import { asCidr } from '../contract/config-schema/index.ts'
import { ConfigError } from './file.ts'

/** For settings that hold no secret: the message repeats the value. */
export const wrong = (variable: string, got: string, accepts: string) =>
  new ConfigError(`${variable} is ${JSON.stringify(got)}; it takes ${accepts}.`)

export const wrongSecret = (variable: string, got: string, accepts: string) =>
  new ConfigError(`${variable} has ${got}; it takes ${accepts}.`)

export function readHost(variable: string, text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  if (asCidr(host) !== undefined && !host.includes('/')) return host
  // Digits and dots alone would be a mistyped address, not a name.
  if (/^(?!.*\.\.)[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i.test(host) && /[a-z]/i.test(host)) {
    return host
  }
  throw wrong(variable, text, 'an IP address or a host name')
}

export function readPort(variable: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw wrong(variable, text, 'a whole number from 0 to 65535')
}

interface Place {
  host: string
  port: number
}

/** Undefined when administration shares the callers' port. */
export function readAdminPlace(
  calls: Place,
  hostText: string | undefined,
  portText: string | undefined,
): Place | undefined {
  const host = hostText === undefined ? calls.host : readHost('GATEWAY_ADMIN_HOST', hostText)
  const port = portText === undefined ? calls.port : readPort('GATEWAY_ADMIN_PORT', portText)
  const isSame =
    host === calls.host && port === calls.port && (port !== 0 || portText === undefined)
  return isSame ? undefined : { host, port }
}

export function readPublicUrl(variable: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const accepts = 'an http or https address without credentials, query or fragment'
  if (text.includes('@')) throw wrongSecret(variable, 'credentials in it', accepts)
  if (!/^https?:\/\/[^\s/?#\\][^\s?#\\]*$/.test(text) || !URL.canParse(text)) {
    throw wrong(variable, text, accepts)
  }
  return text.replace(/\/+$/, '')
}

export function readCidrs(variable: string, text: string | undefined): readonly string[] {
  if (text === undefined) return []
  const entries = text.split(',').map((entry) => entry.trim())
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      const cidr = asCidr(entry)
      const accepts = 'a comma list of CIDRs such as 10.0.0.0/8'
      if (cidr === undefined) throw wrong(variable, text, accepts)
      return cidr
    })
}
