// A price as people read it.
import { Stack, Text } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import type { Price, Rates } from './price.ts'
import { words } from './words.ts'

function useLines(): (price: Price) => string[] {
  const say = useWords(words)
  const format = useFormat()
  const rates = ({ input, output, cache_read, cache_write }: Rates) =>
    [
      `${say('input')} ${input}`,
      `${say('output')} ${output}`,
      cache_read === undefined ? '' : `${say('cache_read')} ${cache_read}`,
      cache_write === undefined ? '' : `${say('cache_write')} ${cache_write}`,
    ]
      .filter((part) => part !== '')
      .join(' · ')
  const tiered = (each: Readonly<Record<string, string>>) =>
    Object.entries(each).map(([tier, amount]) => `${tier}: ${amount}`)
  return ({ tiers, per_million, per_image, per_second }) => {
    if (tiers !== undefined) {
      return tiers.map(({ up_to, per_million: tier }) => {
        const bound = up_to === undefined ? say('above') : say('up_to', { n: format.number(up_to) })
        return `${bound}: ${rates(tier)}`
      })
    }
    if (typeof per_million === 'object') return [rates(per_million)]
    if (typeof per_million === 'string') return [per_million]
    if (typeof per_image === 'string') return [per_image]
    return tiered(per_image ?? per_second ?? {})
  }
}

export function Terms({ price }: { price: Price }) {
  const say = useWords(words)
  const { currency } = useSession()
  const lines = useLines()(price)
  return (
    <Stack gap={0}>
      {lines.map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
      <Text size="xs" c="dimmed">
        {currency} {say(price.unit)}
      </Text>
    </Stack>
  )
}

/** In one line, for a list. */
export function ShortTerms({ price }: { price: Price | undefined }) {
  const say = useWords(words)
  const lines = useLines()
  if (price === undefined) return <Text c="red">{say('missing')}</Text>
  return <span title={say(price.unit)}>{lines(price).join(' | ')}</span>
}
