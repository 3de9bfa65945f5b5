// Reads an image task: its fields by the schema of its path, then which of them go together and with which model.
// Only checked fields go on to the upstream, under its own names. The caller's own id stays here.
import type { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { ImageTask, InputMedia } from '../../contract/task.ts'
import { plainBase64After } from '../../lib/json/json-thread.ts'
import { type Fields, wrong } from '../common/fields.ts'
import type { CreateOf } from '../media/create.ts'
import { readFields } from '../media/fields.ts'
import { isAddress, readEach } from '../media/images.ts'
import {
  imageData,
  maxImages,
  maxInputs,
  noPrompt,
  omniFields,
  plainFields,
  tooManyInputs,
  wrongWord,
} from './fields.ts'
import {
  elementModel,
  type KindOf,
  modelNameIn,
  movedModel,
  omniModel,
  type Path,
  referenceModel,
} from './models.ts'

export const schemas = { generations: plainFields, 'omni-image': omniFields } as const

type Plain = z.output<typeof plainFields>
type Omni = z.output<typeof omniFields>

const codes = { resolution: 'invalid_resolution' } as const

/** The upstream request, and the maximum number of images. */
interface Checked {
  path: Path
  body: Readonly<Record<string, unknown>>
  images: readonly string[]
  count: number
}

interface ImageTaskOptions {
  kindOf?: KindOf
  account?: string | undefined
}

export async function parseImageTask(
  fields: Fields,
  path: Path,
  { kindOf = () => undefined, account }: ImageTaskOptions = {},
): Promise<CreateOf<ImageTask> | Refusal> {
  const model = modelNameIn(fields, path, kindOf)
  if (model instanceof Refusal) return model
  if ((fields['prompt'] ?? undefined) === undefined) return wrong('prompt', noPrompt)
  const unusable = model === movedModel ? unusableIn(fields, path) : undefined
  if (unusable !== undefined) return unusable
  const known = readFields(schemas[path], fields, codes)
  if (known instanceof Refusal) return known
  const read = await withPlainImages(known, account)
  if (read instanceof Refusal) return read
  const checked = path === 'generations' ? plain(read as Plain, model) : omni(read as Omni, model)
  if (checked instanceof Refusal) return checked
  const { prompt, external_task_id: externalId } = read
  return {
    kind: 'image',
    model,
    request: {
      prompt,
      count: checked.count,
      media: await Promise.all(checked.images.map((image) => mediumOf(image, account))),
      isEdit: false,
      native: { path: checked.path, body: { prompt, ...checked.body } },
    },
    ...(externalId !== undefined && { externalId }),
  }
}

/** Its upstream path has no such fields: ignoring them would charge for another image than requested. */
function unusableIn(fields: Fields, path: Path): Refusal | undefined {
  const names = ['negative_prompt', 'image_reference', 'image_fidelity', 'human_fidelity']
  if (path === 'omni-image') names.push('image')
  else names.push('image_list', 'result_type', 'series_amount')
  const found = names.find((name) => ![undefined, null, ''].includes(fields[name] as string))
  return found === undefined ? undefined : wrong(found, `${movedModel} has no use for '${found}'`)
}

async function withPlainImages(
  read: Plain | Omni,
  account: string | undefined,
): Promise<Plain | Omni | Refusal> {
  if ('image' in read && read.image !== undefined) {
    const image = await imageData(read.image, 'image', account)
    return image instanceof Refusal ? image : { ...read, image }
  }
  if (!('image_list' in read) || read.image_list === undefined) return read
  const images = await readEach(read.image_list, async (each, index) => {
    const image = await imageData(each.image, `image_list[${index}]`, account)
    return image instanceof Refusal ? image : { ...each, image }
  })
  return images instanceof Refusal ? images : { ...read, image_list: images }
}

async function mediumOf(image: string, account: string | undefined): Promise<InputMedia> {
  if (isAddress(image)) return { kind: 'image', url: image }
  const head = `data:${typeOf(image)};base64,`
  const url = await plainBase64After(head, image, 0, account)
  return { kind: 'image', url: url ?? `${head}${image}` }
}

const typeOf = (base64: string): string => (base64.startsWith('/9j/') ? 'image/jpeg' : 'image/png')

function plain(read: Plain, model: string): Checked | Refusal {
  const { image, n: count = 1 } = read
  const problem = referenceProblem(read, model)
  if (problem !== undefined) return problem
  if (read.element_list !== undefined && model !== elementModel) {
    return wrong('element_list', `'element_list' is for ${elementModel} only`)
  }
  const images = image === undefined ? [] : [image]
  const elements = elementsIn(read, images.length)
  if (elements instanceof Refusal) return elements
  const shared = { ...sharedIn(read, '16:9'), n: count }
  if (model === movedModel) {
    // Its upstream has it at the other path, which takes a list of images and no fidelity.
    const list = image !== undefined && { image_list: [{ image }] }
    return { path: 'omni-image', images, count, body: { ...list, ...shared } }
  }
  const { negative_prompt, image_reference, image_fidelity, human_fidelity } = read
  const body = {
    ...(negative_prompt && { negative_prompt }),
    ...(image !== undefined && { image }),
    ...(image_reference && { image_reference }),
    ...(image_fidelity !== undefined && { image_fidelity }),
    ...(human_fidelity !== undefined && { human_fidelity }),
    ...elements,
    ...shared,
  }
  return { path: 'generations', images, count, body }
}

function referenceProblem(read: Plain, model: string): Refusal | undefined {
  const { image, negative_prompt: negative, image_reference: role } = read
  const name = 'image_reference'
  if (negative && image !== undefined) {
    return wrong('negative_prompt', "'negative_prompt' cannot be used together with 'image'")
  }
  if (role && model !== referenceModel)
    return wrong(name, `'${name}' is for ${referenceModel} only`)
  if (role && image === undefined) return wrong('image', `'${name}' needs an 'image'`)
  if (!role && image !== undefined && model === referenceModel) {
    return wrong(name, `${referenceModel} with an 'image' needs '${name}': subject or face`)
  }
  return undefined
}

function omni(read: Omni, model: string): Checked | Refusal {
  const images = (read.image_list ?? []).map(({ image }) => image)
  const elements = elementsIn(read, images.length)
  if (elements instanceof Refusal) return elements
  const { result_type: type, series_amount: amount, n = 1 } = read
  if (model === movedModel && read.resolution === '4k') {
    const message = wrongWord('resolution', ['1k', '2k'])
    return refuse('invalid_resolution', message, { param: 'resolution' })
  }
  const isSeries = type === 'series'
  if (isSeries && model === movedModel) {
    return wrong('result_type', `a series is for ${omniModel} only`)
  }
  const list = images.length > 0 && { image_list: images.map((image) => ({ image })) }
  const series = { result_type: type, ...(amount !== undefined && { series_amount: amount }) }
  return {
    path: 'omni-image',
    images,
    count: isSeries ? (typeof amount === 'number' ? amount : maxImages) : n,
    body: { ...list, ...elements, ...sharedIn(read, 'auto'), ...(isSeries ? series : { n }) },
  }
}

function elementsIn(
  { element_list: elements = [] }: Plain | Omni,
  images: number,
): { element_list?: object } | Refusal {
  if (elements.length + images > maxInputs) {
    return refuse('too_many_images', tooManyInputs, { param: 'element_list' })
  }
  if (elements.length === 0) return {}
  return { element_list: elements.map(({ element_id }) => ({ element_id })) }
}

function sharedIn(
  { resolution = '1k', aspect_ratio, watermark_info }: Plain | Omni,
  defaultRatio: string,
): Checked['body'] {
  const given = Object.entries(watermark_info ?? {}).filter(([, value]) => value !== null)
  return {
    resolution,
    aspect_ratio: aspect_ratio ?? defaultRatio,
    ...(given.length > 0 && { watermark_info: Object.fromEntries(given) }),
  }
}
