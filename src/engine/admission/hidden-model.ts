// Why a caller cannot use a model. Without a price it is named as such; anything else looks as if it did
// not exist.
import type { Token } from '../../contract/catalog.ts'
import { modelNotFound, modelUnpriced, type Refusal } from '../../contract/errors.ts'
import type { Offers } from '../base-deps.ts'

export const hiddenModel = (
  { catalog }: Pick<Offers, 'catalog'>,
  token: Token,
  name: string,
): Refusal => (catalog.isUnpriced(token, name) ? modelUnpriced(name) : modelNotFound(name))
