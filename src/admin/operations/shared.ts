// What the descriptions of admin calls have in common: lists, names in paths, who may be refused. The
// schemas of bodies are those that check them.
import { z } from 'zod'
import type { Source } from '../../contract/catalog.ts'
import type { RefusalCode } from '../../contract/errors.ts'
import { pageOf } from '../../http/bill-schemas.ts'
import {
  answered,
  bodyRefusals,
  type Content,
  inPath,
  inQuery,
  json,
  type Operation,
} from '../../http/operation.ts'
import { object, type Schema, text, time, whole, word } from '../../http/schema.ts'

export { pageOf }

/** Of a field that members are not sent. */
export const staffOnly = 'Not for members.'

/** The very schema that a body is checked with, in the words of JSON Schema. */
export function schemaOf(schema: z.ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' })
  return withoutLimits(rest) as Schema
}

/** The runtime's own bounds of a whole number tell nobody anything. */
function withoutLimits(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutLimits)
  if (typeof node !== 'object' || node === null) return node
  const unsafe = (key: string, value: unknown) =>
    (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
    (key === 'maximum' && value === Number.MAX_SAFE_INTEGER)
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !unsafe(key, value))
      .map(([key, value]) => [key, withoutLimits(value)]),
  )
}

const sources = ['builtin', 'file', 'api'] as const satisfies readonly Source[]
export const source = word(sources, 'Who declared it: the gateway, gateway.yaml or this API.')

const maxOnPage = 500

export const pageParameters = [
  inQuery('limit', whole(1, maxOnPage, 'Items of a page.')),
  inQuery('cursor', text('`next_cursor` of the page before.')),
]

export const accountParameter = inQuery('account', text('Id or name of an account.'))
export const modelParameter = inQuery('model', text('Name of a model.'))
export const spanParameters = [
  inQuery('from', time('From then on.')),
  inQuery('to', time('Before then.')),
]

export const idOf = (what: string) => inPath('id', text(`Id of ${what}.`))
export const idOrNameOf = (what: string) => inPath('id', text(`Id or name of ${what}.`))

export const adminRefusals: readonly RefusalCode[] = [
  'internal_error',
  'overloaded',
  'invalid_api_key',
  'not_permitted',
  'invalid_request',
]

type Described = Omit<Operation, 'credential' | 'refusals' | 'path'> & {
  /** Below /admin/v1. */
  path: string
  refusals?: readonly RefusalCode[]
}

/** A list may always name an account that is not there, and a path something else. */
export function adminOperation({ path, refusals = [], ...rest }: Described): Operation {
  const mayMiss = path.includes('{') || rest.parameters?.includes(accountParameter) === true
  return {
    ...rest,
    path: `/admin/v1${path}`,
    credential: 'admin',
    refusals: [
      ...adminRefusals,
      ...(rest.body === undefined ? [] : bodyRefusals),
      ...(mayMiss ? (['not_found'] as const) : []),
      ...refusals,
    ],
  }
}

export const bodyOf = (
  schema: Schema,
  examples: NonNullable<Content['examples']>,
  required = true,
): NonNullable<Operation['body']> => ({ content: json(schema, examples), required })

export const deleted = answered(object({ id: text(), deleted: { const: true } }), 'It is gone.')

export const created = (schema: Schema, description: string) =>
  answered(schema, description, { status: 201 })

export const tableAnswer = (description: string, type = 'text/csv') => ({
  status: 200,
  description,
  headers: ['content-disposition'] as const,
  content: { [type]: { schema: text() } },
})
