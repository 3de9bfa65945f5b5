// The frame of a page: title, actions, panels and errors.

import { Alert, Box, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiError, NoAnswer } from '../lib/api.ts'
import { useMessages } from '../lib/messages.ts'
import { usePageTitle } from '../lib/open-alerts.ts'
import { type ServerText, useServerText } from '../lib/server/use-server-text.ts'

export function Page({
  title,
  hint,
  actions,
  children,
}: {
  title: string
  hint?: string
  actions?: ReactNode
  children: ReactNode
}) {
  usePageTitle(title)
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-end" wrap="wrap">
        <Box>
          <Title order={1} size="h1">
            {title}
          </Title>
          {hint !== undefined && (
            <Text c="dimmed" size="sm">
              {hint}
            </Text>
          )}
        </Box>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

/** A card with a title. */
export const Panel = ({ title, children }: { title?: string; children: ReactNode }) => (
  <Card withBorder h="100%">
    {title !== undefined && <SectionTitle>{title}</SectionTitle>}
    {children}
  </Card>
)

/** The title of a section in a panel or a drawer. */
export const SectionTitle = ({ children }: { children: ReactNode }) => (
  <Title order={2} size="h2" mb="xs">
    {children}
  </Title>
)

/** The error in the reader's language, the gateway's own text, and the request ID. */
export function ErrorAlert({ error }: { error: Error | null | undefined }) {
  const t = useMessages()
  const server = useServerText()
  if (error === null || error === undefined) return null
  return (
    <Alert color="red" role="alert" title={titleOf(error, t('went_wrong'), server)}>
      {error instanceof NoAnswer ? t('no_answer') : error.message}
      {error instanceof ApiError && error.requestId !== '' && !error.message.includes('req_') && (
        <Text size="xs" c="dimmed">
          {t('request_id')}: {error.requestId}
        </Text>
      )}
    </Alert>
  )
}

const titleOf = (error: Error, otherwise: string, { text }: ServerText): string =>
  error instanceof ApiError ? text('error', error.code, otherwise) : otherwise
