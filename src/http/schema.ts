// Short constructors of JSON Schema, for documents. Checks nothing itself.

export interface Schema {
  readonly [keyword: string]: unknown
  readonly [nameKey]?: string
}

const nameKey = Symbol('name')

/** A schema that a document contains once and refers to by this name. */
export const named = (name: string, schema: Schema): Schema => ({ ...schema, [nameKey]: name })

export const nameOf = (schema: Schema): string | undefined => schema[nameKey]

export const text = (description?: string, more: Schema = {}): Schema =>
  described({ type: 'string', ...more }, description)

export const word = (words: readonly string[], description?: string): Schema =>
  described({ type: 'string', enum: [...words] }, description)

export const whole = (min?: number, max?: number, description?: string): Schema =>
  described(
    {
      type: 'integer',
      ...(min !== undefined && { minimum: min }),
      ...(max !== undefined && { maximum: max }),
    },
    description,
  )

export const number = (min?: number, max?: number, description?: string): Schema => ({
  ...whole(min, max, description),
  type: 'number',
})

export const flag = (description?: string): Schema => described({ type: 'boolean' }, description)

export const list = (items: Schema, more: Schema = {}): Schema => ({
  type: 'array',
  items,
  ...more,
})

/** A name that ends in a question mark is that of an optional field. */
export function object(fields: Readonly<Record<string, Schema>>, more: Schema = {}): Schema {
  const names = Object.keys(fields)
  const required = names.filter((name) => !name.endsWith('?'))
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, schema]) => [name.replace(/\?$/, ''), schema]),
    ),
    ...(required.length > 0 && { required }),
    ...more,
  }
}

/** Further fields are allowed. */
export const open: Schema = { additionalProperties: true }

export const either = (...schemas: Schema[]): Schema => ({ anyOf: schemas })

/** Null counts as absent. */
export function orNull(schema: Schema): Schema {
  const { type, enum: words } = schema
  if (nameOf(schema) !== undefined || typeof type !== 'string') {
    const { anyOf, ...rest } = schema
    // Not a union in a union, which generators cannot name.
    const isUnion = Array.isArray(anyOf) && nameOf(schema) === undefined && !('type' in rest)
    return isUnion
      ? { ...rest, anyOf: [...(anyOf as Schema[]), { type: 'null' }] }
      : { anyOf: [schema, { type: 'null' }] }
  }
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(words) && { enum: [...words, null] }),
  }
}

export const described = (schema: Schema, description: string | undefined): Schema =>
  description === undefined ? schema : { ...schema, description }

export const anything = (description?: string): Schema => described({}, description)

export const time = (description?: string): Schema => text(description, { format: 'date-time' })

export const bytes = (description?: string): Schema => text(description, { format: 'binary' })
