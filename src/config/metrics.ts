// Where metrics are served: on the gateway's own port, on another, or nowhere.

import { asCidr } from '../contract/config-schema/index.ts'
import { ConfigError } from './file.ts'

export type MetricsPlace = 'on' | 'off' | { host: string; port: number }

/** `on`, `off`, a port, or an address and a port; a port alone listens on loopback only. */
export function readMetricsPlace(text: string): MetricsPlace {
  if (text === 'on' || text === 'off') return text
  const [, host, port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const plain = (host ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1')
  const isAddress = asCidr(plain) !== undefined && !plain.includes('/')
  if (port !== '' && Number(port) <= 65_535 && (isAddress || plain === 'localhost')) {
    return { host: plain, port: Number(port) }
  }
  throw new ConfigError(
    `GATEWAY_METRICS is ${JSON.stringify(text)}; it takes on, off, a port such as 9464, or an ` +
      'address and a port such as 0.0.0.0:9464.',
  )
}
