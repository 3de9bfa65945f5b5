// The images of an answer in this style. Pure: a parsed answer in, a report out.
import { isObject } from '../../lib/json/parse.ts'
import { textOf } from '../tasks/fields.ts'
import { imageAt, imageOf } from '../tasks/images.ts'
import type { Json } from '../tasks/read-reply.ts'
import type { FinishedReport } from '../tasks/style.ts'

/** Undefined when it is no list of images. An empty entry was not delivered. */
export function readImages({ data, created, usage }: Json): FinishedReport | undefined {
  if (!Array.isArray(data)) return undefined
  const rows = data.filter(isObject)
  const media = rows.map(imageIn).filter((image) => image !== undefined)
  // Without the images themselves and their URLs.
  const about = rows.map(({ url: _, b64_json: __, ...rest }) => rest)
  return { state: 'succeeded', media, usage: {}, raw: { created, data: about, usage } }
}

function imageIn({ url, b64_json }: Json) {
  const address = textOf(url)
  return address === '' ? imageOf(textOf(b64_json)) : imageAt(address)
}
