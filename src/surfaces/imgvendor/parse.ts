// An image task as its caller words it: every field is checked, and the checked ones alone go on to
// the upstream, in its own words. What its caller calls it stays here.
import { Refusal } from '../../contract/errors.ts'
import type { ImageTask, InputMedia } from '../../contract/task.ts'
import { type Fields, wrong } from '../common/fields.ts'
import type { CreateOf } from '../media/create.ts'
import { isAddress } from '../media/pictures.ts'
import {
  externalIdIn,
  fractionIn,
  imageIn,
  isThere,
  promptIn,
  textIn,
  watermarkIn,
  wholeIn,
  wordIn,
} from './fields.ts'
import { elementsIn, imageListIn } from './inputs.ts'
import {
  elementModel,
  type KindOf,
  modelNameIn,
  movedModel,
  omniModel,
  type Path,
  referenceModel,
} from './models.ts'

export const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'] as const
export const maxImages = 9
export const minInSeries = 2

/** What goes up, and how many pictures may come of it. */
interface Checked {
  path: Path
  body: Readonly<Record<string, unknown>>
  images: readonly string[]
  count: number
}

export function parseImageTask(
  fields: Fields,
  path: Path,
  kindOf: KindOf = () => undefined,
): CreateOf<ImageTask> | Refusal {
  const model = modelNameIn(fields, path, kindOf)
  if (model instanceof Refusal) return model
  const externalId = externalIdIn(fields)
  if (externalId instanceof Refusal) return externalId
  const prompt = promptIn(fields)
  if (prompt instanceof Refusal) return prompt
  const unusable = model === movedModel ? unusableIn(fields, path) : undefined
  if (unusable !== undefined) return unusable
  const checked = path === 'generations' ? plain(fields, model) : omni(fields, model)
  if (checked instanceof Refusal) return checked
  const { images, count, body, path: upstreamPath } = checked
  return {
    kind: 'image',
    model,
    request: {
      prompt,
      count,
      media: images.map(mediumOf),
      isEdit: false,
      native: { path: upstreamPath, body: { prompt, ...body } },
    },
    ...(externalId !== undefined && { externalId }),
  }
}

/** Its upstream path has no word for these: left out silently, another picture would be charged for. */
function unusableIn(fields: Fields, path: Path): Refusal | undefined {
  const names = ['negative_prompt', 'image_reference', 'image_fidelity', 'human_fidelity']
  if (path === 'omni-image') names.push('image')
  else names.push('image_list', 'result_type', 'series_amount')
  const found = names.find((name) => isThere(fields[name]) && fields[name] !== '')
  return found === undefined ? undefined : wrong(found, `${movedModel} has no use for '${found}'`)
}

const mediumOf = (image: string): InputMedia => ({
  kind: 'image',
  url: isAddress(image) ? image : `data:${typeOf(image)};base64,${image}`,
})

const typeOf = (base64: string): string => (base64.startsWith('/9j/') ? 'image/jpeg' : 'image/png')

function plain(fields: Fields, model: string): Checked | Refusal {
  const reference = referenceIn(fields, model)
  if (reference instanceof Refusal) return reference
  const shared = sharedIn(fields, ['1k', '2k'], ratios, '16:9')
  if (shared instanceof Refusal) return shared
  if (isThere(fields['element_list']) && model !== elementModel) {
    return wrong('element_list', `'element_list' is for ${elementModel} only`)
  }
  const { image } = reference
  const elements = elementsIn(fields, image === undefined ? 0 : 1)
  if (elements instanceof Refusal) return elements
  const images = image === undefined ? [] : [image]
  const { count } = shared
  if (model === movedModel) {
    // Its upstream has it at the other path, which lists pictures and knows no strengths.
    const list = image !== undefined && { image_list: [{ image }] }
    return { path: 'omni-image', images, count, body: { ...list, ...shared.body, n: count } }
  }
  const body = { ...reference, ...elements, ...shared.body, n: count }
  return { path: 'generations', images, count, body }
}

interface Reference {
  negative_prompt?: string
  image?: string
  image_reference?: 'subject' | 'face'
  image_fidelity?: number
  human_fidelity?: number
}

/** The picture to go by, and how closely. */
function referenceIn(fields: Fields, model: string): Reference | Refusal {
  const image = imageIn(fields['image'], 'image')
  if (image instanceof Refusal) return image
  const negative = textIn(fields, 'negative_prompt')
  if (negative instanceof Refusal) return negative
  if (negative !== undefined && image !== undefined) {
    return wrong('negative_prompt', "'negative_prompt' cannot be used together with 'image'")
  }
  const role = roleIn(fields, model, image !== undefined)
  if (role instanceof Refusal) return role
  const imageFidelity = fractionIn(fields, 'image_fidelity')
  if (imageFidelity instanceof Refusal) return imageFidelity
  const humanFidelity = fractionIn(fields, 'human_fidelity')
  if (humanFidelity instanceof Refusal) return humanFidelity
  return {
    ...(negative !== undefined && { negative_prompt: negative }),
    ...(image !== undefined && { image }),
    ...(role !== undefined && { image_reference: role }),
    ...(imageFidelity !== undefined && { image_fidelity: imageFidelity }),
    ...(humanFidelity !== undefined && { human_fidelity: humanFidelity }),
  }
}

function roleIn(
  fields: Fields,
  model: string,
  hasImage: boolean,
): 'subject' | 'face' | undefined | Refusal {
  const name = 'image_reference'
  const given = fields[name] === '' ? {} : { [name]: fields[name] }
  const role = wordIn(given, name, ['subject', 'face'])
  if (role instanceof Refusal) return role
  if (role !== undefined && model !== referenceModel) {
    return wrong(name, `'${name}' is for ${referenceModel} only`)
  }
  if (role !== undefined && !hasImage) return wrong('image', `'${name}' needs an 'image'`)
  if (role === undefined && hasImage && model === referenceModel) {
    return wrong(name, `${referenceModel} with an 'image' needs '${name}': subject or face`)
  }
  return role
}

function omni(fields: Fields, model: string): Checked | Refusal {
  const images = imageListIn(fields)
  if (images instanceof Refusal) return images
  const elements = elementsIn(fields, images.length)
  if (elements instanceof Refusal) return elements
  const sizes = model === movedModel ? (['1k', '2k'] as const) : (['1k', '2k', '4k'] as const)
  const shared = sharedIn(fields, sizes, [...ratios, 'auto'], 'auto')
  if (shared instanceof Refusal) return shared
  const series = seriesIn(fields, model)
  if (series instanceof Refusal) return series
  const list = images.length > 0 && { image_list: images.map((image) => ({ image })) }
  const amount = series?.body ?? { n: shared.count }
  return {
    path: 'omni-image',
    images,
    count: series?.count ?? shared.count,
    body: { ...list, ...elements, ...shared.body, ...amount },
  }
}

/** Undefined where single pictures are wanted. */
function seriesIn(
  fields: Fields,
  model: string,
): { body: Checked['body']; count: number } | undefined | Refusal {
  const type = wordIn(fields, 'result_type', ['single', 'series'])
  if (type instanceof Refusal) return type
  const isOpen = fields['series_amount'] === 'auto'
  const amount = isOpen ? undefined : wholeIn(fields, 'series_amount', minInSeries, maxImages)
  if (amount instanceof Refusal) return amount
  if (type !== 'series') return undefined
  if (model === movedModel) return wrong('result_type', `a series is for ${omniModel} only`)
  const told = isOpen ? { series_amount: 'auto' } : amount && { series_amount: amount }
  return { body: { result_type: type, ...told }, count: amount ?? maxImages }
}

/** What both paths have, with what it is when nobody says. */
function sharedIn(
  fields: Fields,
  sizes: readonly string[],
  shapes: readonly string[],
  usualShape: string,
): { body: Checked['body']; count: number } | Refusal {
  const resolution = wordIn(fields, 'resolution', sizes, 'invalid_resolution')
  if (resolution instanceof Refusal) return resolution
  const count = wholeIn(fields, 'n', 1, maxImages)
  if (count instanceof Refusal) return count
  const ratio = wordIn(fields, 'aspect_ratio', shapes)
  if (ratio instanceof Refusal) return ratio
  const watermark = watermarkIn(fields)
  if (watermark instanceof Refusal) return watermark
  const body = {
    resolution: resolution ?? '1k',
    aspect_ratio: ratio ?? usualShape,
    ...(watermark !== undefined && { watermark_info: watermark }),
  }
  return { body, count: count ?? 1 }
}
