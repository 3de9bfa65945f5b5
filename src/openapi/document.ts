// Turns lists of operations into an OpenAPI 3.1 document. Knows the format, and no
// interface.
import { type RefusalCode, refusals } from '../contract/errors.ts'
import { type Dialect, type Dialects, statusOf } from '../http/dialect.ts'
import { errorSchema } from '../http/error-schemas.ts'
import {
  type Answer,
  type Content,
  type HeaderName,
  headerTable,
  idHeaders,
  type Operation,
  type Parameter,
  rateNames,
} from '../http/operation.ts'
import { nameOf, type Schema, text } from '../http/schema.ts'
import { SchemaComponents } from './components.ts'
import { callbackHeaders, schemes, securityOf } from './security.ts'
import { tagTexts } from './tags.ts'

type Json = Record<string, unknown>

export interface OpenApi {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: Json; contact: Json }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Json>
  components: Record<string, Json>
}

interface Subject {
  title: string
  version: string
  description: string
  url: string
  operations: readonly Operation[]
  /** The errors and credentials of each path. */
  dialects: Dialects
}

export function buildDocument({ operations, url, dialects, ...info }: Subject): OpenApi {
  const components = new SchemaComponents()
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    paths[operation.path] ??= {}
    paths[operation.path]![operation.method] = operationObject(components, operation, dialects)
  }
  const server = url.replace(/\/+$/, '')
  const kinds = new Set(operations.map(({ credential }) => credential))
  return {
    openapi: '3.1.0',
    info: {
      ...info,
      contact: { name: info.title, url: `${server}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server || '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({
      name,
      ...(tagTexts[name] !== undefined && { description: tagTexts[name] }),
    })),
    paths,
    components: {
      securitySchemes: schemes(kinds, dialects.keyPlaces),
      headers: headersIn([paths, components.responses()]),
      schemas: components.schemas(),
      responses: components.responses(),
    },
  }
}

function operationObject(
  components: SchemaComponents,
  operation: Operation,
  dialects: Dialects,
): Json {
  const dialect = dialects.at(operation.path)
  const { id, tag, summary, description, parameters = [], body, callback } = operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: description ?? `${summary}.`,
    security: securityOf(operation.credential, dialect),
    ...(parameters.length > 0 && {
      parameters: parameters.map((each) => parameterObject(components, each)),
    }),
    ...(body !== undefined && {
      requestBody: {
        required: body.required ?? false,
        content: contentObject(components, body.content),
      },
    }),
    responses: responsesOf(components, operation, dialect),
    'x-error-codes': refusalCodes(operation, dialect),
    ...(callback !== undefined && { callbacks: callbackObject(components, id, callback) }),
  }
}

const parameterObject = (
  components: SchemaComponents,
  { name, schema, ...rest }: Parameter,
): Json => {
  const { description, ...plain } = schema
  const shown = rest.description ?? (description as string | undefined)
  return {
    name,
    in: rest.in,
    ...(rest.required === true && { required: true }),
    ...(shown !== undefined && { description: shown }),
    schema: components.put(plain),
  }
}

function contentObject(
  components: SchemaComponents,
  content: Readonly<Record<string, Content>>,
): Json {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema, events, examples }]) => [
      type,
      {
        schema: components.put(schema),
        ...(events !== undefined && {
          'x-event-schema': components.put(events.schema),
          ...(events.end !== undefined && { 'x-end': events.end }),
        }),
        ...(examples !== undefined && {
          examples: Object.fromEntries(
            Object.entries(examples).map(([name, value]) => [name, { value }]),
          ),
        }),
      },
    ]),
  )
}

const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function responsesOf(components: SchemaComponents, operation: Operation, dialect: Dialect): Json {
  const responses: Record<number, Json> = {}
  for (const answer of operation.answers)
    responses[answer.status] = answerObject(components, answer)
  for (const status of Object.keys(refusalCodes(operation, dialect)).map(Number)) {
    if (status in responses) throw new Error(`${operation.id} answers and refuses with ${status}`)
    responses[status] = refusalRef(components, dialect, status)
  }
  return responses
}

/** Codes by status: the answers themselves are shared by all operations. */
const refusalCodes = ({ refusals: codes }: Operation, dialect: Dialect): Json =>
  Object.fromEntries(
    [...Map.groupBy(new Set(codes), (code) => statusOf(code, dialect))]
      .toSorted(([a], [b]) => a - b)
      .map(([status, some]) => [status, some.toSorted()]),
  )

const answerObject = (
  components: SchemaComponents,
  { description, headers = [], content }: Answer,
): Json => ({
  description,
  headers: headerRefs([...idHeaders, ...headers]),
  ...(content !== undefined && { content: contentObject(components, content) }),
})

/** One for each status and shape of errors, with every code that there is. */
function refusalRef(components: SchemaComponents, dialect: Dialect, status: number): Json {
  const schema = errorSchema(dialect)
  return components.respond(`${nameOf(schema)}${status}`, () =>
    refusalObject(components, dialect, status),
  )
}

function refusalObject(components: SchemaComponents, dialect: Dialect, status: number): Json {
  const all = Object.keys(refusals) as RefusalCode[]
  const codes = all.filter((code) => statusOf(code, dialect) === status).toSorted()
  const rates = codes.includes('rate_limit_exceeded') ? rateNames : []
  const extra: HeaderName[] = ['x-should-retry', 'retry-after', ...rates]
  const replays = codes.some((code) => /^upstream_|^no_output$|^content_/.test(code))
  return {
    description: `Refused. ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: headerRefs([...idHeaders, ...extra, ...(replays ? ['idempotent-replayed'] : [])]),
    content: { 'application/json': { schema: components.put(errorSchema(dialect)) } },
  }
}

/** Those that some answer has. */
function headersIn(answers: unknown): Json {
  const text = JSON.stringify(answers)
  const isUsed = ([name]: [string, unknown]) => text.includes(`"#/components/headers/${name}"`)
  return Object.fromEntries(Object.entries(allHeaders()).filter(isUsed))
}

function allHeaders(): Json {
  const id = { description: 'Names this request everywhere.', required: true }
  const idSchema: Schema = text(undefined, { pattern: '^req_[0-9a-z]{32}$' })
  return {
    ...Object.fromEntries(idHeaders.map((name) => [name, { ...id, schema: idSchema }])),
    ...Object.fromEntries(
      Object.entries(headerTable).map(([name, description]) => [
        name,
        { description, schema: { type: 'string' } },
      ]),
    ),
  }
}

const callbackObject = (
  components: SchemaComponents,
  id: string,
  { field, schema }: NonNullable<Operation['callback']>,
): Json => ({
  ended: {
    [`{$request.body#/${field}}`]: {
      post: {
        operationId: `${id}Ended`,
        summary: 'The task has ended',
        description: 'Signed as Standard Webhooks; sent at least once.',
        // Which header has the signature is said by the parameters.
        security: [],
        parameters: callbackHeaders,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: components.put(schema) } },
        },
        responses: {
          '2XX': { description: 'Taken.' },
          '4XX': { description: 'Not taken: it is sent again later, as after any other answer.' },
        },
      },
    },
  },
})
