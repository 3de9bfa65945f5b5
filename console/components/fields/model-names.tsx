// Names of models and prefixes that end in *, chosen from the catalog; a name that fits no model is told.
import { TagsInput, Text } from '@mantine/core'
import type { Model } from '../../../src/admin/catalog/model-schema.ts'
import type { Page } from '../../lib/api.ts'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { useResource } from '../../lib/use-resource.ts'

const messages = defineMessages({
  unknown: ['No model of the catalog fits: {names}', '模型目录中没有匹配项：{names}'],
})

/** As many as a page can have. */
const maxListed = 500

export function ModelNames({
  label,
  description,
  value,
  onChange,
}: {
  label: string
  description: string
  value: string[]
  onChange: (names: string[]) => void
}) {
  const t = useMessages(messages)
  const { data } = useResource<Page<Model>>('/models', { query: { limit: maxListed } })
  const names = data?.items.map(({ name }) => name) ?? []
  // A longer catalog is not here as a whole: what is missing may be in the rest.
  const isWhole = data !== undefined && data.next_cursor === null
  const unknown = isWhole ? value.filter((each) => !names.some((name) => fits(each, name))) : []
  return (
    <div>
      <TagsInput
        label={label}
        description={description}
        data={[...familiesOf(names), ...names]}
        maxDropdownHeight={240}
        value={value}
        onChange={onChange}
      />
      <div role="status">
        {unknown.length > 0 && (
          <Text size="sm" c="var(--mantine-color-orange-light-color)" mt={4}>
            {t('unknown', { names: unknown.join(', ') })}
          </Text>
        )}
      </div>
    </div>
  )
}

const fits = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name

/** `txta-*` where several names begin so. */
function familiesOf(names: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const name of names) {
    const [first = ''] = name.split('-')
    if (first !== name) counts.set(first, (counts.get(first) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > 1).map(([first]) => `${first}-*`)
}
