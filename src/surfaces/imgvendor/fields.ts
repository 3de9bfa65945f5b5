// The fields of an image task one by one, each with the refusal a wrong one gets. Null counts as
// absent.
import { Refusal, refuse } from '../../contract/errors.ts'
import { plainBase64 } from '../../lib/base64.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { isAddress, isLongerThan } from '../media/pictures.ts'

export const maxPrompt = 2_500
const maxImageBytes = 10 * 1024 * 1024
const maxBase64 = Math.ceil(maxImageBytes / 3) * 4
export const maxExternalId = 128

export const isThere = (value: unknown): boolean => value !== undefined && value !== null

export function promptIn(fields: Fields): string | Refusal {
  const prompt = textIn(fields, 'prompt')
  if (prompt instanceof Refusal) return prompt
  return prompt === undefined || prompt.trim() === ''
    ? wrong('prompt', "'prompt' must be a non-empty string")
    : prompt
}

/** An empty text is none. */
export function textIn(fields: Fields, name: string): string | undefined | Refusal {
  const text = fields[name]
  if (!isThere(text) || text === '') return undefined
  if (typeof text !== 'string') return wrong(name, `'${name}' must be a string`)
  return isLongerThan(text, maxPrompt)
    ? wrong(name, `'${name}' is longer than ${maxPrompt} characters`)
    : text
}

/** One of these words. */
export function wordIn<Word extends string>(
  fields: Fields,
  name: string,
  words: readonly Word[],
  code: 'invalid_request' | 'invalid_resolution' = 'invalid_request',
): Word | undefined | Refusal {
  const given = fields[name]
  if (!isThere(given)) return undefined
  const known = words.find((word) => word === given)
  if (known !== undefined) return known
  return refuse(code, `'${name}' must be one of ${words.join(', ')}`, { param: name })
}

export function fractionIn(fields: Fields, name: string): number | undefined | Refusal {
  const given = fields[name]
  if (!isThere(given)) return undefined
  if (typeof given === 'number' && given >= 0 && given <= 1) return given
  return wrong(name, `'${name}' must be a number from 0 to 1`)
}

export function wholeIn(
  fields: Fields,
  name: string,
  least: number,
  most: number,
): number | undefined | Refusal {
  const given = fields[name]
  if (!isThere(given)) return undefined
  if (Number.isInteger(given) && (given as number) >= least && (given as number) <= most) {
    return given as number
  }
  return wrong(name, `'${name}' must be a whole number from ${least} to ${most}`)
}

/** An address, or base64 as the upstream wants it: without what `data:` puts before it. */
export function imageIn(value: unknown, place: string): string | undefined | Refusal {
  const param = place.replace(/\[.*$/, '')
  if (!isThere(value) || value === '') return undefined
  if (typeof value !== 'string') return wrong(param, `'${place}' must be a string`)
  if (isAddress(value)) return value
  const given = value.replace(/^\s*data:image\/[a-z0-9.+-]{1,64};base64,/i, '')
  const base64 = plainBase64(given)
  if ((base64 ?? given).length > maxBase64) {
    const message = `'${place}' is larger than ${maxImageBytes} bytes`
    return refuse('request_too_large', message, { param })
  }
  return (
    base64 ?? wrong(param, `'${place}' must be an http or https address, or an image in base64`)
  )
}

/** What else is in it is the upstream's to judge. */
export function watermarkIn({ watermark_info: info }: Fields): Fields | undefined | Refusal {
  if (!isThere(info)) return undefined
  const given = isObject(info) ? Object.entries(info).filter(([, value]) => value !== null) : null
  if (given?.length === 0) return undefined
  const { enabled = true } = isObject(info) ? info : { enabled: undefined }
  return given !== null && typeof (enabled ?? true) === 'boolean'
    ? Object.fromEntries(given)
    : wrong('watermark_info', "'watermark_info' must be an object with 'enabled', true or false")
}

export function externalIdIn({ external_task_id: id }: Fields): string | undefined | Refusal {
  if (!isThere(id)) return undefined
  if (typeof id === 'string' && id !== '' && !isLongerThan(id, maxExternalId) && isPlain(id)) {
    return id
  }
  const message = `'external_task_id' must be a string of 1 to ${maxExternalId} characters`
  return wrong('external_task_id', message)
}

/** What a store can hold and an address can name. */
export const isPlain = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text)
