// A served OpenAPI document, and real answers held against it. Objects of the gateway's own are taken
// as closed: what an answer has and the document does not tell of is a fault too.
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js'

export type Json = Record<string, unknown>

export interface Call {
  id: string
  method: string
  path: string
  operation: Json
}

export interface Described {
  document: Json
  calls: readonly Call[]
  resolve(ref: string): Json
  /** What is wrong with an answer; nothing when it is as described. */
  problemsOf(call: Call, response: Response, body: Uint8Array): string[]
  /** Whether a body of JSON fits what the call takes. */
  fits(call: Call, body: unknown): boolean
}

export function describedBy(document: Json): Described {
  const resolve = (ref: string): Json =>
    ref
      .slice(2)
      .split('/')
      .reduce((node, key) => node[key.replaceAll('~1', '/')] as Json, document)
  const checks = new Checks(document)
  const calls = Object.entries(document['paths'] as Record<string, Json>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      id: (operation as Json)['operationId'] as string,
      method: method.toUpperCase(),
      path,
      operation: operation as Json,
    })),
  )
  const responseFor = ({ operation }: Call, status: number): Json | undefined => {
    const given = (operation['responses'] as Record<string, Json>)[String(status)]
    const ref = given?.['$ref']
    return typeof ref === 'string' ? resolve(ref) : given
  }
  return {
    document,
    calls,
    resolve,
    problemsOf(call, response, body) {
      const told = responseFor(call, response.status)
      if (told === undefined) return [`status ${response.status} is not documented`]
      return [
        ...headerProblems(response, told, resolve),
        ...bodyProblems(checks, call, response, told, body),
      ]
    },
    fits: (call, body) => {
      const content = (call.operation['requestBody'] as Json)['content'] as Record<string, Json>
      return checks.open(content['application/json']!['schema'] as Json)(body)
    },
  }
}

const idPattern = /^req_[0-9a-f]{32}$/

function headerProblems(response: Response, told: Json, resolve: (ref: string) => Json): string[] {
  return Object.entries((told['headers'] as Record<string, Json> | undefined) ?? {}).flatMap(
    ([name, given]) => {
      const header = typeof given['$ref'] === 'string' ? resolve(given['$ref']) : given
      const value = response.headers.get(name)
      if (value === null) return header['required'] === true ? [`there is no header ${name}`] : []
      return name.endsWith('request-id') && !idPattern.test(value) ? [`${name} is ${value}`] : []
    },
  )
}

function bodyProblems(
  checks: Checks,
  call: Call,
  response: Response,
  told: Json,
  body: Uint8Array,
): string[] {
  const content = (told['content'] as Record<string, Json> | undefined) ?? {}
  if (Object.keys(content).length === 0) return body.length === 0 ? [] : ['there is a body']
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]!.trim()
  const media = content[type]
  if (media === undefined) return [`content type ${type} is not documented`]
  if (type === 'text/event-stream') return streamProblems(checks, media, body)
  if (type !== 'application/json') return []
  const value: unknown = JSON.parse(new TextDecoder().decode(body))
  const check = checks.closed(media['schema'] as Json)
  if (!check(value)) return [`${call.id}: ${checks.text(check)}`]
  return codeProblems(call, response.status, value)
}

/** The schema of an error is shared: which codes an operation refuses with is told beside it. */
function codeProblems({ id, operation }: Call, status: number, body: unknown): string[] {
  const codes = (operation['x-error-codes'] as Record<string, string[]>)[status]
  if (codes === undefined) return []
  const { code, reason } = (body as { error: { code: unknown; reason?: unknown } }).error
  const said = typeof code === 'number' ? reason : code
  return codes.includes(String(said)) ? [] : [`${id}: ${status} with the code ${said}`]
}

function streamProblems(checks: Checks, media: Json, body: Uint8Array): string[] {
  const check = checks.closed(media['x-event-schema'] as Json)
  const events = new TextDecoder()
    .decode(body)
    .split('\n\n')
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
  const end = media['x-end']
  if (end !== undefined && events.at(-1) !== end) return [`the stream does not end with ${end}`]
  const problems = events
    .filter((text) => text !== end)
    .flatMap((text) => (check(JSON.parse(text)) ? [] : [`event ${text}: ${checks.text(check)}`]))
  return events.length === 0 ? ['there is no event'] : problems
}

const datePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** Compiled schemas, each once: equal ones, too, because compiling is slow. */
class Checks {
  readonly #known = { open: new WeakMap(), closed: new WeakMap() } as Record<
    'open' | 'closed',
    WeakMap<Json, ValidateFunction>
  >
  readonly #made = new Map<string, ValidateFunction>()
  readonly #storeKinds: Record<'open' | 'closed', Ajv>

  constructor(document: Json) {
    const engine = (close: boolean) => {
      const ajv = new Ajv({
        strict: false,
        allErrors: false,
        formats: { binary: true, email: true },
      })
      ajv.addFormat('date-time', datePattern)
      const components = document['components'] as Json
      const schemas = close ? closedSchema(components['schemas']) : components['schemas']
      ajv.addSchema({ $id: 'doc', components: { schemas } })
      return ajv
    }
    this.#storeKinds = { open: engine(false), closed: engine(true) }
  }

  open = (schema: Json): ValidateFunction => this.#get('open', schema)
  closed = (schema: Json): ValidateFunction => this.#get('closed', schema)

  text(check: ValidateFunction): string {
    const [first] = check.errors ?? []
    const extra = JSON.stringify(first?.params ?? {})
    return `${first?.instancePath || 'the body'} ${first?.message} ${extra}`
  }

  #get(kind: 'open' | 'closed', schema: Json): ValidateFunction {
    const known = this.#known[kind].get(schema)
    if (known !== undefined) return known
    const made = this.#getEqual(kind, schema)
    this.#known[kind].set(schema, made)
    return made
  }

  #getEqual(kind: 'open' | 'closed', schema: Json): ValidateFunction {
    const key = `${kind} ${JSON.stringify(schema)}`
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const own = kind === 'closed' ? closedSchema(schema) : schema
    const made = this.#storeKinds[kind].compile(withDocument(own) as Json)
    this.#made.set(key, made)
    return made
  }
}

/** References lead into the document. */
const withDocument = (node: unknown): unknown =>
  walk(node, (key, value) =>
    key === '$ref' && typeof value === 'string' ? `doc${value}` : undefined,
  )

function walk(node: unknown, change: (key: string, value: unknown) => unknown): unknown {
  if (Array.isArray(node)) return node.map((each) => walk(each, change))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, change(key, value) ?? walk(value, change)]),
  )
}

/** What says nothing of other fields has none. */
function closedSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closedSchema)
  if (typeof node !== 'object' || node === null) return node
  const inner = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'enum' || key === 'const' ? value : closedSchema(value),
    ]),
  )
  const isObject =
    inner['type'] === 'object' || (Array.isArray(inner['type']) && inner['type'].includes('object'))
  const isShape = isObject && typeof inner['properties'] === 'object' && !('$ref' in inner)
  return isShape && !('additionalProperties' in inner)
    ? { ...inner, additionalProperties: false }
    : inner
}
