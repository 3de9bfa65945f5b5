// A price as people read it, and how it differs from another.
import { Badge, Stack, Text } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { changesOf, type Price, type Rates, termsOf } from './price.ts'
import { words } from './words.ts'

type Shown = Omit<Price, 'id' | 'current' | 'source'>

function useLines(): (price: Shown) => string[] {
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

export function Terms({ price }: { price: Shown }) {
  const say = useWords(words)
  const { currency } = useSession()
  const lines = useLines()(price)
  if (price.unit === 'default') return <Text size="sm">{say('default')}</Text>
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

/** Up or down, by how much: one figure where all amounts moved alike, else the two ends. */
export function Change({ before, after }: { before: Shown; after: Shown }) {
  const format = useFormat()
  const shares = changesOf(termsOf(before), termsOf(after)).map(({ share }) => share)
  if (shares.length === 0 || before.unit !== after.unit) return null
  const signed = (share: number) => `${share > 0 ? '+' : ''}${format.percent(share)}`
  const [least, most] = [Math.min(...shares), Math.max(...shares)]
  const text = most - least < 0.0005 ? signed(most) : `${signed(least)} … ${signed(most)}`
  return (
    <Badge variant="light" radius="sm" color={least >= 0 ? 'orange' : most <= 0 ? 'teal' : 'gray'}>
      {text}
    </Badge>
  )
}

const sourceColours: Readonly<Record<string, string>> = {
  builtin: 'gray',
  file: 'blue',
  api: 'grape',
}

/** Where a price comes from, in the words of the page. */
export function SourceBadge({ source }: { source: string | undefined }) {
  const say = useWords(words)
  if (source === undefined) return <>–</>
  return (
    <Badge variant="light" radius="sm" color={sourceColours[source] ?? 'gray'}>
      {say(`source_${source}` as 'source_api')}
    </Badge>
  )
}
