// How this upstream is addressed.
import type { TaskUpstream } from '../../contract/provider.ts'
import { plainHeaders } from '../tasks/listen.ts'
import { bearer } from '../text/style.ts'

export const headersFor = (upstream: TaskUpstream): Record<string, string> => ({
  ...bearer(upstream),
  ...plainHeaders,
})

export const tasksAddress = ({ baseUrl }: TaskUpstream): string =>
  `${baseUrl}/contents/generations/tasks`

export const taskAddress = (upstream: TaskUpstream, upstreamId: string): string =>
  `${tasksAddress(upstream)}/${encodeURIComponent(upstreamId)}`
