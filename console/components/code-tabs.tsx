// The same code in several languages or tools, one tab each.
import { Tabs } from '@mantine/core'
import type { Snippet } from '../lib/client-snippets.ts'
import { CopyBlock } from './copy.tsx'

export const CodeTabs = ({ snippets }: { snippets: readonly Snippet[] }) => (
  <Tabs defaultValue={snippets[0]?.name ?? ''} variant="pills">
    <Tabs.List>
      {snippets.map(({ name }) => (
        <Tabs.Tab key={name} value={name}>
          {name}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {snippets.map(({ name, code }) => (
      <Tabs.Panel key={name} value={name} pt="xs">
        <CopyBlock text={code} label={name} />
      </Tabs.Panel>
    ))}
  </Tabs>
)
