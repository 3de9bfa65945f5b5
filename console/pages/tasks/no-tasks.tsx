// For an empty list of tasks: one click creates a first task, where the sandbox answers. Elsewhere it
// would cost money, and the playground shows how much first.

import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { Model } from '../../../src/admin/catalog/model-schema.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { api, type Page, parseResponse } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { actors } from '../../lib/resources/task.ts'
import { navigate } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { tokenFor } from '../playground/request/token.ts'
import { messages } from './messages.ts'

interface Sample {
  title: 'sample_text' | 'sample_image' | 'sample_still'
  path: string
  use: string
  fits: RegExp
  body: () => object
}

const prompt = 'A cat walks along the beach at sunset'

const samples: readonly Sample[] = [
  {
    title: 'sample_text',
    path: '/v1/videos',
    use: 'videos',
    fits: /t2v/,
    body: () => ({ prompt, seconds: 5, resolution: '720p' }),
  },
  {
    title: 'sample_image',
    path: '/v1/videos',
    use: 'videos',
    fits: /i2v/,
    body: () => ({ prompt, seconds: 5, resolution: '720p', input_reference: drawn() }),
  },
  {
    title: 'sample_still',
    path: '/v1/images/generations',
    use: 'images',
    fits: /./,
    body: () => ({ prompt: 'A lighthouse in a storm', n: 1, size: '1024x1024' }),
  },
]

/** A plain evening sky, so the sample needs no image from elsewhere. */
function drawn(): string {
  const canvas = document.createElement('canvas')
  ;[canvas.width, canvas.height] = [640, 360]
  const paint = canvas.getContext('2d')
  if (paint !== null) {
    const sky = paint.createLinearGradient(0, 0, 0, canvas.height)
    for (const [at, color] of [
      [0, '#27306b'],
      [0.6, '#e2725b'],
      [1, '#f4c95d'],
    ] as const) {
      sky.addColorStop(at, color)
    }
    paint.fillStyle = sky
    paint.fillRect(0, 0, canvas.width, canvas.height)
  }
  return canvas.toDataURL('image/png')
}

export function NoTasks({ onMade }: { onMade: () => void }) {
  const t = useMessages(messages)
  const session = useSession()
  const mayAct = hasRole(session, actors)
  const [busy, setBusy] = useState<string>()
  const action = useAction()
  const isSandbox = session.environment === 'sandbox'
  const models = useResource<Page<Model>>('/models', {
    query: { limit: 500 },
    enabled: mayAct && isSandbox,
  })
  const modelFor = ({ use, fits }: Sample) =>
    models.data?.items.find(
      ({ name, interfaces, callable }) => callable && interfaces.includes(use) && fits.test(name),
    )?.name
  const make = async (sample: Sample, model: string) => {
    setBusy(sample.title)
    if (await action.run(() => send(sample, model, session.account))) onMade()
    setBusy(undefined)
  }
  return (
    <EmptyState icon="tasks" text={t('empty')}>
      <ErrorAlert error={action.error} />
      {mayAct && !isSandbox && (
        <Button variant="default" onClick={() => navigate('/playground?try=Video')}>
          {t('to_playground')}
        </Button>
      )}
      {mayAct && isSandbox && (
        <>
          <Text size="sm" c="dimmed">
            {t('samples')}
          </Text>
          <Group justify="center">
            {samples.map((sample) => {
              const model = modelFor(sample)
              return (
                <Button
                  key={sample.title}
                  variant="default"
                  disabled={model === undefined}
                  loading={busy === sample.title}
                  onClick={() => model !== undefined && void make(sample, model)}
                >
                  {t(sample.title)}
                </Button>
              )
            })}
          </Group>
        </>
      )}
    </EmptyState>
  )
}

async function send(sample: Sample, model: string, own: string | null): Promise<void> {
  const { items } = await api<Page<{ name: string }>>('GET', '/accounts', { query: { limit: 1 } })
  const account = own ?? items[0]?.name ?? ''
  const response = await fetch(sample.path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await tokenFor(account)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, ...sample.body() }),
    credentials: 'omit',
  })
  await parseResponse(response)
}
