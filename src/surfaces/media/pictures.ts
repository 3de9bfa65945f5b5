// What a picture that a caller hands over may be: an address, or bytes in base64 within a bound.
import { type Refusal, refuse } from '../../contract/errors.ts'

const maxAddress = 8_192
export const maxImageBytes = 20 * 1024 * 1024
const maxBase64 = Math.ceil(maxImageBytes / 3) * 4

export const isAddress = (url: string): boolean =>
  url.length <= maxAddress && /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url) && URL.canParse(url)

export const isImageType = (type: string): boolean => /^image\/[a-z0-9.+-]{1,64}$/i.test(type)

export const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(text)

export const isTooLong = (base64: string): boolean => base64.length > maxBase64

export const tooLarge = (place: string, param = place): Refusal =>
  refuse('request_too_large', `'${place}' is larger than ${maxImageBytes} bytes`, { param })
