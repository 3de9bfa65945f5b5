// A create in this upstream's format. A caller's native fields go upstream unchanged, except those
// that the gateway sets: the model, the task's external id and the callback.
import { maxSide } from '../../contract/media/image-size.ts'
import type { TaskUpstream } from '../../contract/provider.ts'
import type { ImageRequest } from '../../contract/task.ts'
import { isObject } from '../../lib/json/parse.ts'
import { inlineFile } from '../tasks/images.ts'
import type { Json } from '../tasks/read-reply.ts'
import type { Problem } from '../tasks/style.ts'

type Path = 'generations' | 'omni-image'

/** Models on the other path. The name must decide the path: a task has nothing else. */
const omniName = /(?:^|-)(?:omni|image-o1)(?:-|$)/
/** It takes an image only together with what to use of it. */
const wantsReference = /-v1-5(?:-|$)/
const shapes = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9'] as const

export const pathFor = ({ model, plainModel }: TaskUpstream): Path =>
  omniName.test(model) || omniName.test(plainModel) ? 'omni-image' : 'generations'

export function buildBody(request: ImageRequest, upstream: TaskUpstream): Words | Problem {
  const path = pathFor(upstream)
  const given =
    request.native === undefined ? plain(request, path, upstream) : native(request.native, path)
  if ('problem' in given) return given
  const { model: _, callback_url: __, ...rest } = given.words
  return { words: { ...rest, model_name: upstream.model, external_task_id: upstream.marker } }
}

interface Words {
  words: Json
}

type Native = NonNullable<ImageRequest['native']>

function native({ body, path: asked }: Native, path: Path): Words | Problem {
  if (asked === 'omni-image' && path !== asked) {
    return { problem: 'the model is not one of those that are asked on the omni-image path' }
  }
  const words: Record<string, unknown> = { ...body }
  if (typeof words['image'] === 'string') words['image'] = bare(words['image'])
  if (Array.isArray(words['image_list'])) words['image_list'] = words['image_list'].map(bareItem)
  return { words: asked === path ? words : toOmni(words) }
}

/** The other path takes images in a list, and has no field for the rest. */
function toOmni(words: Json): Json {
  const {
    image,
    image_reference: _,
    image_fidelity: __,
    human_fidelity: ___,
    negative_prompt: ____,
    ...rest
  } = words
  return image == null ? rest : { image_list: [{ image }], ...rest }
}

function plain(
  { prompt, count, size, negativePrompt, media }: ImageRequest,
  path: Path,
  { model, plainModel }: TaskUpstream,
): Words | Problem {
  const images = media.map(({ url }) => bare(url))
  const words = {
    prompt,
    n: count,
    ...(size !== undefined && { aspect_ratio: nearest(size) }),
    ...(size !== undefined &&
      Math.max(size.width, size.height) > maxSide['1k'] && { resolution: '2k' }),
  }
  if (path === 'omni-image') {
    const image_list = images.map((image) => ({ image }))
    return { words: image_list.length === 0 ? words : { ...words, image_list } }
  }
  const [image, ...others] = images
  if (others.length > 0) return { problem: 'this model takes no more than one picture' }
  if (image === undefined) {
    const without = negativePrompt !== undefined && { negative_prompt: negativePrompt }
    return { words: { ...words, ...without } }
  }
  const needsReference = [model, plainModel].some((name) => wantsReference.test(name))
  return { words: { ...words, image, ...(needsReference && { image_reference: 'subject' }) } }
}

/** Bytes go without a media type. */
const bare = (url: string): string => url.slice(inlineFile(url)?.from ?? 0)

const bareItem = (item: unknown): unknown =>
  isObject(item) && typeof item['image'] === 'string'
    ? { ...item, image: bare(item['image']) }
    : item

function nearest({ width, height }: { width: number; height: number }): string {
  const distance = (shape: string): number => {
    const [wide, high] = shape.split(':').map(Number)
    return Math.abs(Math.log(width / height) - Math.log(wide! / high!))
  }
  return shapes.reduce((best, shape) => (distance(shape) < distance(best) ? shape : best))
}
