// A route of the admin API as the OpenAPI document tells of it.
import { z } from 'zod'
import { interfaces, protocols } from '../contract/config-schema/names.ts'
import type { RefusalCode } from '../contract/errors.ts'
import {
  type Answer,
  bodyRefusals,
  inHeader,
  inPath,
  inQuery,
  json,
  type Operation,
  type Parameter,
} from '../http/operation.ts'
import { type Schema, text } from '../http/schema.ts'
import { schemaOf } from '../http/zod-schema.ts'
import type { AdminRoute } from './route.ts'

const lists = { interfaces, protocols }
const documented = (schema: z.ZodType, io: 'input' | 'output' = 'input') =>
  schemaOf(schema, io, lists)

const adminRefusals: readonly RefusalCode[] = [
  'internal_error',
  'overloaded',
  'invalid_api_key',
  'not_permitted',
  'invalid_request',
]

/** A list may always name an account that is not there, and a path something else. */
export function operationOf(route: AdminRoute): Operation {
  const { id, method, tag, summary, description, permission, refusals = [] } = route
  const mayMiss = route.path.includes(':') || route.query?.shape['account'] !== undefined
  const body = bodyOf(route)
  return {
    id,
    method,
    path: `/admin/v1${route.path.replace(':id', '{id}')}`,
    tag,
    summary,
    ...(description !== undefined && { description }),
    credential: permission.open === true ? 'none' : 'admin',
    parameters: parametersOf(route),
    ...(body !== undefined && { body }),
    answers: [answerOf(route)],
    refusals: [
      ...adminRefusals,
      ...(body === undefined ? [] : bodyRefusals),
      ...(mayMiss ? (['not_found'] as const) : []),
      ...refusals,
    ],
  }
}

function parametersOf({ param, query, path, requestHeaders = {} }: AdminRoute): Parameter[] {
  const named = path.includes(':id') ? [inPath('id', text(param))] : []
  const { properties = {}, required = [] } = query === undefined ? {} : documented(query)
  const fields = Object.entries(properties as Readonly<Record<string, Schema>>)
  const asked = fields.map(([name, schema]) => ({
    ...inQuery(name, schema),
    required: (required as readonly string[]).includes(name),
  }))
  const headers = Object.entries(requestHeaders)
  return [...named, ...asked, ...headers.map(([name, says]) => inHeader(name, text(says)))]
}

function bodyOf({ request, body, examples, optionalBody }: AdminRoute): Operation['body'] {
  if (request !== undefined) {
    const content = Object.entries(request).map(([type, { schema, ...rest }]) => [
      type,
      { schema: plain(schema), ...rest },
    ])
    return { content: Object.fromEntries(content), required: true }
  }
  if (body === undefined) return undefined
  return { content: json(documented(body), examples), required: optionalBody !== true }
}

const plain = (schema: Schema | z.ZodType): Schema =>
  schema instanceof z.ZodType ? documented(schema) : schema

function answerOf({ answer, files, returns, status = 200, headers }: AdminRoute): Answer {
  const others = Object.entries(files ?? {}).map(([type, schema]) => [
    type,
    { schema: plain(schema) },
  ])
  return {
    status,
    description: returns,
    content: {
      ...(answer !== undefined && json(documented(answer, 'output'))),
      ...Object.fromEntries(others),
    },
    ...(headers !== undefined && { headers }),
  }
}
