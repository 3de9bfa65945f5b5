// The same thing in several languages or tools, one at a time, each to be copied.
import { Tabs } from '@mantine/core'
import { CopyBlock } from './copy.tsx'
import type { Snippet } from './snippet.ts'

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
