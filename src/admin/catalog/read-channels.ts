// Channels from a YAML text in the words of gateway.yaml, as an export writes them. Knows no store and
// no channel that is there.
import { z } from 'zod'
import {
  type ChannelDeclaration,
  channelFields,
  checkChannel,
  resolveChannel,
} from '../../contract/config-schema/index.ts'
import { readListed } from './read-list.ts'

const maxChannels = 200
/** Stands in an export where a key was. */
const keptPlace = 'PUT_THE_KEY_HERE'

/** Keys that are left out stay as they are. */
const imported = channelFields.superRefine((channel, context) =>
  checkChannel(channel.auth === undefined ? { keys: [], ...channel } : channel, context),
)
export type ImportedChannel = Omit<ChannelDeclaration, 'keys'> & Partial<ChannelDeclaration>
const importedFile = z.strictObject({ channels: z.array(imported).min(1).max(maxChannels) })

type ChannelList = { channels: ImportedChannel[] } | { problem: string }

/** `channels:` and a list as in gateway.yaml, or the list alone. */
export function readChannels(text: string): ChannelList {
  const read = readListed(text, 'channels', importedFile)
  if ('problem' in read) return read
  const channels = read.value.channels.map(resolved)
  const twice = channels.find(({ name }, i) => channels.some((c, j) => j < i && c.name === name))
  if (twice !== undefined) return { problem: `channel '${twice.name}' is there twice` }
  return { channels: channels.map(withoutPlaces) }
}

function resolved(declared: z.infer<typeof channelFields>): ImportedChannel {
  const { keys, ...channel } = resolveChannel(declared)
  return keys === undefined || keys.length === 0 ? channel : { ...channel, keys }
}

function withoutPlaces({ keys: given, ...channel }: ImportedChannel): ImportedChannel {
  const real = given?.filter((key) => key !== keptPlace) ?? []
  return real.length === 0 ? channel : { ...channel, keys: real }
}
