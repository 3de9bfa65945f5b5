// The playground: a call put together by form or as JSON, sent as an application would send it, with
// what came back and what it cost.
import { Alert, Button, Grid, Group, Select, Stack, Tabs, Text, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ask, type Page as ListPage } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useKeys } from '../../lib/keys.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { Page } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import type { Task } from '../tasks/task.ts'
import { Editor } from './editor.tsx'
import { estimateFor, type Priced } from './estimate.ts'
import { type Trial, trials, withValue } from './interfaces.ts'
import { OutcomeView } from './outcome.tsx'
import { useTry } from './use-try.ts'
import { words } from './words.ts'

interface Model {
  name: string
  interfaces: string[]
  callable: boolean
  price_id: string | null
}

export default function Playground() {
  const say = useWords(words)
  const [title, setTitle] = useQueryValue('try')
  const [use] = useQueryValue('use')
  const trial =
    trials.find((each) => each.title === title) ??
    trials.find((each) => title === undefined && each.use === use) ??
    trials[0]!
  return (
    <Page title={say('title')} hint={say('hint')}>
      <Tabs value={trial.title} onChange={(next) => setTitle(next ?? undefined)}>
        <Tabs.List>
          {trials.map((each) => (
            <Tabs.Tab key={each.title} value={each.title}>
              {each.title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <TryOut key={trial.title} trial={trial} />
    </Page>
  )
}

function useChoices(trial: Trial) {
  const session = useSession()
  const accounts = useQuery({
    queryKey: ['accounts'],
    queryFn: () => ask<ListPage<{ name: string }>>('GET', '/accounts', { query: { limit: 500 } }),
  })
  const models = useQuery({
    queryKey: ['models'],
    queryFn: () => ask<ListPage<Model>>('GET', '/models', { query: { limit: 500 } }),
  })
  const names = accounts.data?.items.map(({ name }) => name) ?? []
  const fitting = (models.data?.items ?? []).filter(
    ({ interfaces, callable }) => callable && interfaces.includes(trial.use),
  )
  return { accounts: session.account === null ? names : [session.account], models: fitting }
}

function TryOut({ trial }: { trial: Trial }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency } = useSession()
  const { accounts, models } = useChoices(trial)
  const [account, setAccount] = useState<string | null>(null)
  const [asked] = useQueryValue('model')
  const [model, setModel] = useState<string | null>(asked ?? null)
  const [text, setText] = useState(JSON.stringify(trial.body, null, 2))
  useTaskPrompt(trial, setText, setModel)
  const paying = account ?? accounts[0] ?? null
  const isThere = models.some(({ name }) => name === model)
  const chosen = (isThere ? model : models[0]?.name) ?? null
  const attempt = useTry(trial)
  const price = usePrice(paying, chosen)
  const estimate = estimateFor(price, text)
  const isReady = paying !== null && chosen !== null && !attempt.isBusy
  const go = () => {
    if (isReady) void attempt.run(paying, chosen, text)
  }
  useKeys({ 'mod+enter': go, ...(attempt.isBusy && { Escape: attempt.stop }) })
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          <Group grow align="flex-end">
            <Select
              label={shared('model')}
              data={models.map(({ name }) => name)}
              value={chosen}
              searchable
              allowDeselect={false}
              onChange={setModel}
            />
            <Select
              label={say('account')}
              data={accounts}
              value={paying}
              allowDeselect={false}
              classNames={{ input: privateClass }}
              onChange={setAccount}
            />
          </Group>
          {models.length === 0 && <Alert color="yellow">{say('no_model')}</Alert>}
          <Editor trial={trial} model={chosen ?? ''} text={text} onChange={setText} />
          <Group>
            {attempt.isBusy ? (
              <Button color="red" variant="light" onClick={attempt.stop}>
                {say('stop')}
              </Button>
            ) : (
              <Button onClick={go} disabled={!isReady}>
                {say('send')} ⌘↵
              </Button>
            )}
            {estimate !== undefined && (
              <Tooltip label={say('about_hint')}>
                <Text size="sm" c="dimmed">
                  {say('about', { amount: format.money(estimate, currency) })}
                </Text>
              </Tooltip>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            {say('token_note')}
          </Text>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <OutcomeView trial={trial} attempt={attempt} />
      </Grid.Col>
    </Grid>
  )
}

/** What the account that pays is charged for a model now. */
function usePrice(account: string | null, model: string | null): Priced | undefined {
  const { data } = useQuery({
    queryKey: ['effective-price', account, model],
    queryFn: () =>
      ask<ListPage<Priced>>('GET', `/accounts/${encodeURIComponent(account!)}/prices`, {
        query: { model: model! },
      }),
    enabled: account !== null && model !== null,
    retry: false,
  })
  return data?.items[0]
}

/** `?task=ID` begins with what that task was asked for. */
function useTaskPrompt(
  trial: Trial,
  setText: (text: string) => void,
  setModel: (model: string) => void,
): void {
  const [id] = useQueryValue('task')
  const [, setTitle] = useQueryValue('try')
  const { data: task } = useQuery({
    queryKey: ['task', id],
    queryFn: () => ask<Task>('GET', `/tasks/${encodeURIComponent(id!)}`),
    enabled: id !== undefined,
  })
  useEffect(() => {
    if (task === undefined) return
    const fitting = trials.find(({ use }) => use === task.interface)
    if (fitting !== undefined && fitting.use !== trial.use)
      return setTitle(fitting.title, 'replace')
    let body: unknown = trial.body
    for (const { at, label } of trial.fields) {
      const { prompt, seconds, resolution, count, seed } = task.request
      const known = { prompt, seconds, resolution, count, seed: seed ?? undefined }
      const value = known[label as keyof typeof known]
      if (value !== undefined) body = withValue(body, at, value)
    }
    setText(JSON.stringify(body, null, 2))
    setModel(task.model)
  }, [task, trial, setText, setModel, setTitle])
}
