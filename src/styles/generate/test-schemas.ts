// Schemas of tools as servers of tools publish them, by what the tool is for: written by hand, made by
// generators from classes and validators, with everything that such generators are known to add.
import type { Json } from '../common/conversation.ts'

const draft7 = 'http://json-schema.org/draft-07/schema#'
const draft2020 = 'https://json-schema.org/draft/2020-12/schema'
const text = { type: 'string' }
const number = { type: 'number' }
const whole = { type: 'integer' }
const flag = { type: 'boolean' }
const list = (items: Json, more: Json = {}): Json => ({ type: 'array', items, ...more })
const object = (properties: Json, required: readonly string[] = [], more: Json = {}): Json => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  ...more,
})
const closed = { additionalProperties: false, $schema: draft7 }
/** As a generator writes an optional field of a class. */
const optional = (of: Json, title: string): Json => ({
  anyOf: [of, { type: 'null' }],
  default: null,
  title,
})

export const toolSchemas: Readonly<Record<string, Json>> = {
  'read a file': object({ path: text, tail: number, head: number }, ['path'], closed),
  'edit a file': object(
    {
      path: text,
      edits: list(object({ oldText: text, newText: text }, ['oldText', 'newText'], closed)),
      dryRun: { ...flag, default: false, description: 'Preview only' },
    },
    ['path', 'edits'],
    closed,
  ),
  'write a file': object({ path: text, content: text, mode: { enum: ['w', 'a'] } }, ['path']),
  'list a folder': object({ path: { ...text, minLength: 1 }, sortBy: { enum: ['name', 'size'] } }),
  'search files': object({ pattern: text, excludePatterns: { ...list(text), default: [] } }),
  'no arguments': object({}),
  'no arguments at all': { type: 'object' },
  'no arguments, closed': object({}, [], closed),
  'show a commit': object(
    { repo_path: { title: 'Repo Path', type: 'string' }, revision: { title: 'Rev', ...text } },
    ['repo_path', 'revision'],
    { title: 'Show' },
  ),
  'log of commits': object({
    max_count: { default: 10, title: 'Max Count', type: 'integer' },
    since: optional({ ...text, format: 'date' }, 'Since'),
    authors: optional(list(text), 'Authors'),
  }),
  'open a ticket': object(
    {
      owner: text,
      labels: list(text),
      milestone: number,
      assignees: list(text, { maxItems: 10, uniqueItems: true }),
    },
    ['owner'],
    closed,
  ),
  'change a ticket': object({ state: { type: 'string', enum: ['open', 'closed'] }, id: whole }),
  'merge changes': object({
    method: { const: 'squash' },
    sha: { ...text, pattern: '^[0-9a-f]+$' },
  }),
  'fetch a page': object(
    {
      url: { ...text, format: 'uri', minLength: 1, title: 'Url' },
      max_length: { ...whole, default: 5_000, exclusiveMinimum: 0, exclusiveMaximum: 1_000_000 },
      raw: { ...flag, default: false },
    },
    ['url'],
    { description: 'Parameters for fetching a URL.', title: 'Fetch' },
  ),
  'query a database': object({ sql: text, params: list({}) }, ['sql']),
  'insert rows': object({
    table: text,
    rows: list({ type: 'object', additionalProperties: true }),
  }),
  'find documents': object({
    filter: { type: 'object', additionalProperties: {}, propertyNames: { type: 'string' } },
    sort: { type: 'object', patternProperties: { '^[a-z]+$': { enum: [1, -1] } } },
    limit: { ...whole, minimum: 1, maximum: 1_000, multipleOf: 1 },
  }),
  'aggregate documents': object({ pipeline: list({ type: 'object' }, { minItems: 1 }) }),
  'set a key': object({ key: text, value: { type: ['string', 'number', 'boolean', 'null'] } }),
  'search an index': {
    $schema: draft2020,
    $defs: {
      Query: {
        anyOf: [
          object({ term: { type: 'object', additionalProperties: text } }, ['term']),
          object({ bool: { $ref: '#/$defs/Bool' } }, ['bool']),
        ],
      },
      Bool: object({ must: list({ $ref: '#/$defs/Query' }), not: { $ref: '#/$defs/Query' } }),
    },
    ...object({ query: { $ref: '#/$defs/Query' }, size: whole }, ['query']),
  },
  'remember entities': object(
    {
      entities: list(
        object({ name: text, entityType: text, observations: list(text) }, ['name', 'entityType']),
      ),
    },
    ['entities'],
  ),
  'relate entities': object({ relations: list(object({ from: text, to: text, type: text })) }),
  'think in steps': object({
    thought: text,
    nextThoughtNeeded: flag,
    thoughtNumber: { ...whole, minimum: 1 },
    branchId: text,
  }),
  'convert a time': object({
    source_timezone: text,
    time: { ...text, description: '24 h: HH:MM' },
  }),
  'send a message': object({ channel_id: text, text, thread_ts: { ...text, examples: ['1.2'] } }),
  'list messages': object({ limit: { ...number, default: 100 }, cursor: text }, []),
  'click on a page': object({ element: text, ref: text, doubleClick: flag }, ['ref'], closed),
  'take a picture': object({ width: number, height: number, encoded: { ...flag, $comment: 'b' } }),
  'run a script': object({ script: text, env: { type: 'object', additionalProperties: text } }),
  'create a page': {
    ...object({
      parent: {
        oneOf: [
          object({ type: { const: 'page_id' }, page_id: { $ref: '#/definitions/id' } }),
          object({ type: { const: 'workspace' }, workspace: { const: true } }),
        ],
      },
      children: list({ $ref: '#/definitions/block' }),
    }),
    definitions: {
      id: { ...text, format: 'uuid' },
      text: list(object({ content: text, link: { type: ['object', 'null'] } })),
      block: object({ paragraph: { allOf: [{ $ref: '#/definitions/text' }, { title: 'Text' }] } }),
    },
  },
  'change a row': object({
    fields: { type: 'object', additionalProperties: { anyOf: [text, number, flag, list(text)] } },
  }),
  'charge a customer': object(
    { amount: { ...whole, minimum: 1 }, currency: { ...text, minLength: 3, maxLength: 3 } },
    ['amount', 'currency'],
    { $id: 'https://tools.example/charge.json', additionalProperties: false },
  ),
  'list a calendar': object({
    timeMin: { ...text, format: 'date-time' },
    orderBy: { type: ['string', 'null'], enum: ['startTime', 'updated', null] },
    attendees: list({ allOf: [object({ email: text }, ['email']), object({ optional: flag })] }),
  }),
  'find a route': object({
    origin: { anyOf: [text, list(number, { minItems: 2, maxItems: 2 })] },
    mode: { enum: ['driving', 'walking'], default: 'driving' },
  }),
  'read metrics': object({ start: { type: ['string', 'integer'] }, labels: { type: 'object' } }),
  'apply a manifest': object({ manifest: { type: 'object', 'x-preserve-unknown-fields': true } }),
  'scale a service': object(
    { replicas: { ...whole, minimum: 0 }, min: whole, max: whole },
    ['replicas'],
    {
      if: { properties: { replicas: { const: 0 } } },
      not: { required: ['min'] },
      else: { required: ['max'] },
      dependentRequired: { min: ['max'] },
    },
  ),
  'a tree of tasks': {
    ...object({ root: { $ref: '#/$defs/Node' } }, ['root']),
    $defs: { Node: object({ title: text, children: list({ $ref: '#/$defs/Node' }) }, ['title']) },
  },
  'a field named like a keyword': object({ $ref: text, type: text, properties: text, items: text }),
  'a list of anything': object({ values: { type: 'array' }, pair: list({ type: 'array' }) }),
  'references with names to escape': {
    ...object({ at: { $ref: '#/$defs/a~1b%20c' }, same: { $ref: '#/$defs/alias' } }),
    $defs: { 'a/b c': { ...text, description: 'x' }, alias: { $ref: '#/$defs/a~1b%20c' } },
  },
}
