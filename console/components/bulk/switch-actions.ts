// The two actions of rows that can be switched off and on again, each of which undoes the other.
import { api } from '../../lib/api.ts'
import type { BulkAction } from './bulk-actions.tsx'

interface Switched {
  id: string
  disabled: boolean
}

type SwitchTexts = Pick<BulkAction<Switched>, 'label' | 'text' | 'done'>

export function switchActions(
  path: string,
  off: SwitchTexts,
  on: SwitchTexts,
): BulkAction<Switched>[] {
  const set =
    (disabled: boolean) =>
    ({ id }: Switched) =>
      api('PATCH', `${path}/${id}`, { body: { disabled } })
  return [
    { ...off, appliesTo: ({ disabled }) => !disabled, run: set(true), undo: set(false) },
    { ...on, appliesTo: ({ disabled }) => disabled, run: set(false), undo: set(true) },
  ]
}
