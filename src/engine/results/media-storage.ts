// Where results are kept, for how long, and how much of them: the operator's settings.
import type { MediaStore } from '../../media/store.ts'

export interface KeepSettings {
  /** The first takes new files; the others still hold old ones. */
  stores: readonly [MediaStore, ...MediaStore[]]
  budgetBytes: number
  keepMs: number
  /** False: only inline results are kept, as no other copy exists. Absent: true. */
  copies?: boolean
}

export interface MediaStorage {
  readonly main: MediaStore
  readonly stores: ReadonlyMap<string, MediaStore>
  readonly budgetBytes: number
  readonly keepMs: number
  readonly copies: boolean
}

export const openMediaStorage = ({
  stores,
  copies = true,
  ...rest
}: KeepSettings): MediaStorage => ({
  main: stores[0],
  stores: new Map(stores.map((store) => [store.place, store])),
  copies,
  ...rest,
})
