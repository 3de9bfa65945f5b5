// What a price says, as answers show it: in the words of a declaration.
import { imageSizes } from '../../contract/price.ts'
import { either, list, money, object, record, type Schema, whole, word } from '../../http/schema.ts'

const rates = object({
  input: money('Per million input tokens.'),
  output: money('Per million output tokens.'),
  'cache_read?': money(),
  'cache_write?': money(),
})

export const units = ['token', 'image', 'video_second', 'video_token', 'default'] as const

/** Which of them are there depends on the unit. */
export const termFields: Readonly<Record<string, Schema>> = {
  unit: word(units),
  'per_million?': either(rates, money('Per million video tokens.')),
  'tiers?': list(object({ 'up_to?': whole(1), per_million: rates })),
  'per_image?': either(
    money(),
    object(Object.fromEntries(imageSizes.map((size) => [`${size}?`, money()]))),
  ),
  'default_size?': word(imageSizes),
  'per_second?': record(money()),
}
