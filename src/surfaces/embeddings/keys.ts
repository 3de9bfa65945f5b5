// The keys of an embeddings request.
import { keysOf, plain } from '../../http/exact-keys.ts'

export const embeddingsKeys = keysOf(
  plain('model', 'input', 'encoding_format', 'dimensions', 'user', 'text_type', 'instruct'),
)
