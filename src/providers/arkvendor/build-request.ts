// The body of a create: the caller's own where there is one, else built from the plain request.
// Also maps plain model names to versions, for channels that do not.
import type { TaskUpstream } from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import type { Json } from '../tasks/read-reply.ts'

const versions: ReadonlyMap<string, string> = new Map([
  ['vidmodel-1-5-pro', 'vidmodel-1-5-pro-251215'],
  ['vidmodel-1-0-pro', 'vidmodel-1-0-pro-250528'],
  ['vidmodel-1-0-pro-fast', 'vidmodel-1-0-pro-fast-251015'],
  ['vidmodel-1-0-lite-t2v', 'vidmodel-1-0-lite-t2v-250428'],
  ['vidmodel-1-0-lite-i2v', 'vidmodel-1-0-lite-i2v-250428'],
])

/** A channel's own name for the model is used unchanged. */
export const versionFor = ({ model, plainModel }: TaskUpstream): string =>
  model === plainModel ? (versions.get(plainModel) ?? model) : model

/** The marker goes into the field for the caller's end user, unless the caller sets it. */
export const isMarked = ({ native }: VideoRequest): boolean =>
  native?.body['safety_identifier'] === undefined

export const buildBody = (model: string, request: VideoRequest, marker: string): Json => ({
  ...(request.native?.body ?? fromPlain(request)),
  ...(isMarked(request) && { safety_identifier: marker }),
  model,
})

function fromPlain({ prompt, seconds, resolution, ratio, seed, media }: VideoRequest): Json {
  const text = prompt === '' ? [] : [{ type: 'text', text: prompt }]
  const images = media.map(({ kind, url }, index) =>
    kind === 'video'
      ? { type: 'video_url', video_url: { url } }
      : { type: 'image_url', image_url: { url }, ...roleOf(index, media.length) },
  )
  return {
    content: [...text, ...images],
    resolution,
    duration: seconds,
    ...(ratio !== undefined && { ratio }),
    ...(seed !== undefined && { seed }),
  }
}

/** One image needs no role, two are the first and the last frame, more are references. */
function roleOf(index: number, count: number): { role?: string } {
  if (count === 1) return {}
  if (count === 2) return { role: index === 0 ? 'first_frame' : 'last_frame' }
  return { role: 'reference_image' }
}
