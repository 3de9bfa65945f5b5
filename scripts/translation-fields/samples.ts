// Values that the probes of all styles share.

/** A request with one field more than `beside`, which has what the field needs. */
interface Probe {
  fields: Sample
  beside?: Sample
}

export type Sample = Readonly<Record<string, unknown>>
export type Probes = Readonly<Record<string, Probe>>

/** Fields that need nothing besides. */
export const alone = (samples: Sample): Probes =>
  Object.fromEntries(
    Object.entries(samples).map(([name, value]) => [name, { fields: { [name]: value } }]),
  )

export const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
export const openSchema = { type: 'object', properties: { count: { type: 'integer', minimum: 1 } } }
export const pixel = 'iVBORw0KGgo='
export const imageUrl = 'https://images.example/one.png'
export const document = 'JVBERi0xLjQK'
export const grammar = 'start: /.+/'
