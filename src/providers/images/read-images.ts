// The images of an answer in this style: a parsed answer in, a report out.
import type { TaskUpstream } from '../../contract/provider.ts'
import { partsWithin, type TokenCounts } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'
import { plainUsage } from '../../styles/common/answer-usage.ts'
import { textOf } from '../tasks/fields.ts'
import { imageAt, imageOf } from '../tasks/images.ts'
import type { Json } from '../tasks/read-reply.ts'
import type { FinishedReport } from '../tasks/style.ts'

/** Undefined when it is no list of images. An empty entry was not delivered. */
export async function readImages(
  { data, created, usage }: Json,
  { queueKey }: TaskUpstream,
): Promise<FinishedReport | undefined> {
  if (!Array.isArray(data)) return undefined
  const rows = data.filter(isObject)
  const found = await Promise.all(rows.map((row) => imageIn(row, queueKey)))
  const media = found.filter((image) => image !== undefined)
  // Without the images themselves and their URLs.
  const about = rows.map(({ url: _, b64_json: __, ...rest }) => rest)
  const tokens = tokensIn(usage)
  return {
    state: 'succeeded',
    media,
    usage: tokens === undefined ? {} : { tokens },
    raw: { created, data: about, usage },
  }
}

/** Undefined unless both sides are told. Output that is not told apart is of images. */
function tokensIn(raw: unknown): TokenCounts | undefined {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, parts } =
    plainUsage(raw) ?? {}
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const counts = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } as TokenCounts
  const isApart = isObject(raw) && isObject((raw as Json)['output_tokens_details'])
  const drawn = isApart ? {} : { outputImageTokens: outputTokens }
  const all = partsWithin({ ...drawn, ...parts }, counts)
  return all === undefined ? counts : { ...counts, parts: all }
}

async function imageIn({ url, b64_json }: Json, queueKey: string | undefined) {
  const address = textOf(url)
  return address === '' ? await imageOf(textOf(b64_json), queueKey) : imageAt(address)
}
