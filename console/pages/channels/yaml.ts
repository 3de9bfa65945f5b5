// Channels as gateway.yaml declares them. Keys never come out of the gateway: their place is kept.
import type { Channel } from '../../lib/resources/channel.ts'

/** JSON is YAML: whatever is in a text, it stays one. */
const quoted = (text: string): string => JSON.stringify(text)

const pairs = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([name, value]) => `      ${quoted(name)}: ${quoted(value)}`)

const channelLines = (channel: Channel): string[] => [
  `  - name: ${quoted(channel.name)}`,
  `    region: ${quoted(channel.region)}`,
  channel.auth === null
    ? `    keys: [${Array(Math.max(channel.keys, 1)).fill('"PUT_THE_KEY_HERE"').join(', ')}]`
    : `    # The cloud account (auth${channel.vertex === null ? '' : ', vertex'}) is not exported: an import keeps that of the channel.`,
  '    protocols:',
  ...pairs(channel.protocols),
  '    models:',
  ...pairs(channel.models),
  `    priority: ${channel.priority}`,
  `    weight: ${channel.weight}`,
  `    max_concurrency: ${channel.max_concurrency}`,
  '    timeouts:',
  ...pairs(channel.timeouts),
  '    messages:',
  ...pairs(channel.messages),
  ...(channel.realm === undefined ? [] : [`    realm: ${quoted(channel.realm)}`]),
  ...(channel.affinity === 'on' ? [] : ['    affinity: off']),
  ...(channel.auto_cache ? ['    auto_cache: true'] : []),
  ...(channel.trace ? [] : ['    trace: false']),
  // JSON is YAML.
  ...(channel.request === null ? [] : [`    request: ${JSON.stringify(channel.request)}`]),
  ...(channel.data === null ? [] : [`    data: ${JSON.stringify(channel.data)}`]),
]

export const channelsYaml = (channels: readonly Channel[]): string =>
  `${['channels:', ...channels.flatMap(channelLines)].join('\n')}\n`
