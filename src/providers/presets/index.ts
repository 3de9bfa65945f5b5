// Every preset, by name.
import type { Preset } from '../../contract/config-schema/preset.ts'
import { clouds } from './clouds.ts'
import { hosts } from './hosts.ts'
import { local } from './local.ts'
import { makers } from './makers.ts'
import { media } from './media.ts'

export const presets: ReadonlyMap<string, Preset> = new Map(
  [...makers, ...hosts, ...clouds, ...local, ...media].map((preset) => [preset.name, preset]),
)
