// Writes docs/run/providers-*.md: one page for each group of presets. Run it after a change of a preset; a
// test compares the result.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { presetEndpoint } from '../src/contract/config-schema/channel/auth.ts'
import {
  type Preset,
  type PresetGroup,
  presetGroups,
} from '../src/contract/config-schema/preset.ts'
import { presets } from '../src/providers/presets/index.ts'

const titles: Readonly<Record<PresetGroup, readonly [title: string, about: string]>> = {
  makers: ['Providers: makers of models', 'companies that serve models of their own'],
  hosts: ['Providers: hosts of many models', 'companies that serve models of many makers'],
  clouds: [
    'Providers: clouds',
    'clouds, whose [accounts](channels.md#cloud-accounts) stand in place of keys',
  ],
  local: ['Providers: servers of your own', 'servers that run on machines of yours'],
  media: ['Providers: images and videos', 'vendors of images and videos'],
}

const words: Readonly<Record<string, string>> = {
  no: 'no',
  opt_out: 'unless the account objects',
  unpaid: 'unless the account pays',
  yes: 'yes',
}

export const pageOf = (group: PresetGroup): string => `docs/run/providers-${group}.md`

export function providerPage(group: PresetGroup): string {
  const [title, about] = titles[group]
  const members = [...presets.values()].filter((preset) => preset.group === group)
  return `# ${title}

For operators: presets of ${about}, as publicly documented in November 2026. How to use them is in
[channels](channels.md#presets). This page is generated from the presets themselves.

${members.map(section).join('\n')}`
}

function section(preset: Preset): string {
  const rows = Object.entries(preset.protocols).map(([protocol, address]) => [
    `\`${protocol}\``,
    `\`${presetEndpoint(preset, protocol, address)}\``,
  ])
  const facts = [
    `Preset \`${preset.name}\` · [documentation](${preset.docs})`,
    ...(preset.cloud === undefined ? [] : [`\`auth.${preset.cloud}\` stands in place of keys.`]),
    ...(preset.needsBaseUrl === true ? [hostFact(preset)] : []),
    ...(preset.keyless === true
      ? ['No key is needed unless the server was started with one.']
      : []),
    ...(preset.keyForm === undefined ? [] : [`Key: ${preset.keyForm}.`]),
    `Models unless given: ${modelsOf(preset)}.`,
    `Requests are kept: ${preset.retention ?? 'not stated'}. Used for training: ${preset.training === undefined ? 'not stated' : words[preset.training]}.`,
    ...(preset.notes ?? []),
  ]
  return `## ${preset.title}

${facts.map((fact) => `- ${fact}`).join('\n')}

${table(['Protocol', 'Calls go to'], rows)}`
}

const hostFact = ({ addressIn }: Preset): string =>
  addressIn === undefined
    ? '`base_url` must name your own host.'
    : 'The host follows from the region or location; `base_url` names another one.'

function modelsOf({ models }: Preset): string {
  const names = Object.keys(models)
  return names.length === 0 ? 'those you discover' : names.map((name) => `\`${name}\``).join(', ')
}

/** The formatter's layout. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]!.length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return `${[line(head), rule, ...rows.map(line)].join('\n')}\n`
}

if (import.meta.main) {
  for (const group of presetGroups) {
    writeFileSync(join(resolve(import.meta.dir, '..'), pageOf(group)), providerPage(group))
  }
}
