// The names that a configuration may use: every surface that serves models, and every provider.
// Read from their registries; nothing else of them is used here. Presets are data beside the providers.
import { protocolPaths, protocolStyles, taskProtocols } from '../../providers/index.ts'
import { presets } from '../../providers/presets/index.ts'
import { interfaceRows } from '../../surfaces/index.ts'
import type { Interface, Protocol } from '../catalog.ts'

export { interfaceRows, presets, protocolPaths, protocolStyles, taskProtocols }

export const interfaces = Object.keys(interfaceRows) as [Interface, ...Interface[]]
export const protocols = Object.keys(protocolPaths) as [Protocol, ...Protocol[]]

/** Whether upstreams are called in the protocol of the same name. */
export const hasOwnProtocol = (name: Interface | Protocol): boolean =>
  interfaceRows[name]?.own === true
