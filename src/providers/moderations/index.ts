// Upstreams that judge texts and images by categories of harm. Answers pass as they are.
import { isObject } from '../../lib/json/parse.ts'
import { readTokens } from '../calls/read-tokens.ts'
import { callProvider } from '../calls/send.ts'

export const moderations = callProvider({
  protocol: 'moderations',
  path: '/moderations',
  noun: 'a list of moderation results',
  readAnswer: ({ results, usage }) =>
    Array.isArray(results) && results.length > 0 && results.every(isObject)
      ? { reported: readTokens(usage) }
      : undefined,
})
