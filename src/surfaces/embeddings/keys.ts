// The keys of an embeddings request.
import { keysOf, plain } from '../../http/body/exact-keys.ts'
import { checkedFields } from '../text/refuse-extras.ts'

export const embeddingsKeys = keysOf({
  ...plain(...checkedFields),
  ...plain('model', 'input', 'encoding_format', 'dimensions', 'user', 'text_type', 'instruct'),
})
