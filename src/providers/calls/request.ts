// The request of a call that is no conversation, where it is the caller's JSON: what is changed in it. Plain data in
// and out, so that a thread can do the work for a large one.
import type { Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { withEdits } from '../../lib/json/splice.ts'
import type { CallStyle } from './style.ts'

export const writtenCall = (
  style: CallStyle,
  { body, fields }: Pick<TextCall, 'body' | 'fields'>,
  { model, bodyEdits }: Pick<Upstream, 'model' | 'bodyEdits'>,
): string =>
  withEdits(body, {
    model: JSON.stringify(model),
    ...style.fieldsFor?.({ fields }),
    ...bodyEdits,
  })
