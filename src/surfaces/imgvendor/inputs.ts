// The lists of what an image task may start from: pictures, and elements its caller has upstream.
import { Refusal, refuse } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { imageIn, isThere } from './fields.ts'

/** Pictures and elements together. */
export const maxInputs = 10

export function imageListIn({ image_list: list }: Fields): string[] | Refusal {
  if (!isThere(list)) return []
  if (!Array.isArray(list)) return wrong('image_list', "'image_list' must be a list of {image}")
  if (list.length > maxInputs) return tooMany('image_list')
  const images: string[] = []
  for (const [index, item] of list.entries()) {
    const place = `image_list[${index}]`
    const image = isObject(item) ? imageIn(item['image'], place) : undefined
    if (image instanceof Refusal) return image
    if (image === undefined) return wrong('image_list', `'${place}' must be {image} with an image`)
    images.push(image)
  }
  return images
}

type ElementId = number | string

/** Ids may be larger than a number of JSON can safely be; then they come as digits. */
export function elementsIn(
  { element_list: list }: Fields,
  images: number,
): { element_list?: { element_id: ElementId }[] } | Refusal {
  if (!isThere(list)) return {}
  if (!Array.isArray(list)) {
    return wrong('element_list', "'element_list' must be a list of {element_id}")
  }
  if (list.length + images > maxInputs) return tooMany('element_list')
  const elements = list.map((item) => (isObject(item) ? item['element_id'] : undefined))
  const bad = elements.findIndex((id) => !isElementId(id))
  if (bad !== -1) {
    const message = `'element_list[${bad}]' must have an 'element_id', a whole number or its digits`
    return wrong('element_list', message)
  }
  if (elements.length === 0) return {}
  return { element_list: elements.map((id) => ({ element_id: id as ElementId })) }
}

const isElementId = (id: unknown): boolean =>
  typeof id === 'string' ? /^[1-9]\d{0,18}$/.test(id) : Number.isSafeInteger(id) && Number(id) > 0

const tooMany = (param: string): Refusal =>
  refuse('too_many_images', `at most ${maxInputs} images and elements are taken together`, {
    param,
  })
