// The hours of a price, to be read and to be edited: loaded where a price has some, or is edited.
import { Skeleton } from '@mantine/core'
import { type ComponentProps, lazy, Suspense } from 'react'
import { loadWithRetry } from '../../lib/loading/load.ts'

const View = lazy(() => loadWithRetry(() => import('./hours-view.tsx')))
const Fields = lazy(() => loadWithRetry(() => import('./hours-fields.tsx')))

const waiting = <Skeleton height={180} />

/** Nothing where the price is the same at all hours. */
export const PriceHours = ({
  hours = [],
}: {
  hours: ComponentProps<typeof View>['hours'] | undefined
}) =>
  hours.length === 0 ? null : (
    <Suspense fallback={waiting}>
      <View hours={hours} />
    </Suspense>
  )

export const PriceHoursFields = (props: ComponentProps<typeof Fields>) => (
  <Suspense fallback={waiting}>
    <Fields {...props} />
  </Suspense>
)
