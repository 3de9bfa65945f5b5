// How a channel makes use of the prompt cache of its upstream.
import { z } from 'zod'
import type { Channel } from '../catalog.ts'

export const affinityModes = ['on', 'off'] as const

export const promptCacheFields = {
  affinity: z
    .enum(affinityModes)
    .meta({
      description:
        'Whether calls of one conversation stay on one channel and key, where its prompt cache is. Default on.',
    })
    .optional(),
  auto_cache: z
    .boolean()
    .meta({
      description:
        'Whether prompts are marked for the cache of the upstream where the caller marks nothing. Default false.',
    })
    .optional(),
}

interface Declared {
  affinity?: (typeof affinityModes)[number] | undefined
  auto_cache?: boolean | undefined
}

export const promptCacheFrom = ({
  affinity,
  auto_cache,
}: Declared): Pick<Channel, 'affinity' | 'autoCache'> => ({
  ...(affinity === 'off' && { affinity }),
  ...(auto_cache && { autoCache: true }),
})

/** The same as it is declared. */
export const promptCacheView = ({
  affinity,
  autoCache,
}: Pick<Channel, 'affinity' | 'autoCache'>) => ({
  affinity: affinity ?? ('on' as const),
  auto_cache: autoCache ?? false,
})
