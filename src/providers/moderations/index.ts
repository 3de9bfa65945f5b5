// Upstreams that judge texts and images by categories of harm. Answers pass as they are.
import type { Reported } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { readTokens } from '../calls/read-tokens.ts'
import type { CallStyle } from '../calls/style.ts'

export const moderationsStyle: CallStyle = {
  protocol: 'moderations',
  path: '/moderations',
  noun: 'a list of moderation results',
  readAnswer: ({ results, usage }) =>
    Array.isArray(results) && results.length > 0 && results.every(isObject)
      ? { reported: withoutOutput(readTokens(usage)) }
      : undefined,
}

/** Nothing is written; what was read is all there is to report. */
const withoutOutput = ({ usage, ...others }: Reported): Reported => ({
  ...others,
  usage: usage && { ...usage, outputTokens: usage.outputTokens ?? 0 },
})
