// Exports as the admin API shows them, begun and watched.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  ExportFormat,
  ExportJob,
  ExportKind,
} from '../../../src/admin/system/system-schema.ts'
import { api, type Query } from '../api.ts'
import { resourceKey, useResource } from '../use-resource.ts'

export type { ExportJob, ExportKind }

export const isUnfinished = ({ state }: ExportJob): boolean =>
  state === 'waiting' || state === 'running'

/** From 0 to 1; undefined while the total is unknown. */
export function shareOf({ state, rows, rows_total: total }: ExportJob): number | undefined {
  if (state === 'done') return 1
  return total === null || total === 0 ? undefined : Math.min(1, rows / total)
}

export const fileOf = ({ id }: ExportJob): string => `/admin/v1/exports/${id}/file`

const watchEveryMs = 1_000

/** One that was begun here, until it ends. */
export const useExport = (id: string | undefined) =>
  useResource<ExportJob>(`/exports/${id}`, {
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) =>
      data === undefined || isUnfinished(data) ? watchEveryMs : false,
  })

/** Filters as the list has them; what is not set is left out. */
export function useBeginExport(kind: ExportKind, filters: Query) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (format: ExportFormat) => {
      const set = Object.entries(filters).flatMap(([name, value]) =>
        value === undefined || value === '' ? [] : [[name, String(value)]],
      )
      const body = { kind, format, filters: Object.fromEntries(set) }
      return api<ExportJob>('POST', '/exports', { body })
    },
    onSuccess: (job) => {
      queryClient.setQueryData(resourceKey(`/exports/${job.id}`), job)
      void queryClient.invalidateQueries({ queryKey: ['list', '/exports'] })
    },
  })
}

export async function deleteExport(id: string): Promise<void> {
  await api('DELETE', `/exports/${id}`)
}
