// The usual authorization header for an upstream.
import type { Upstream } from '../../contract/provider.ts'

export const bearer = (upstream: Pick<Upstream, 'key'>): Record<string, string> => ({
  authorization: `Bearer ${upstream.key}`,
})
