// What a channel changes in the requests that it sends: headers and top-level fields of the body. Applied
// last; never to credentials, nor to what the gateway itself relies on.
import { z } from 'zod'
import type { ChannelRules, Protocol } from '../../catalog.ts'
import { strict, text } from '../fields.ts'
import { taskProtocols } from '../names.ts'

const maxNames = 32
const maxValueBytes = 64 * 1024

/** Credentials of any provider, what signs a request, and how it is framed. */
const keptHeaders: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie'],
  ...['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'],
  ...['host', 'content-length', 'content-type', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['upgrade', 'te', 'trailer', 'expect', 'content-encoding', 'accept-encoding'],
])

/** The number of answers is the caller's: they are counted and passed on one by one. */
const keptFields: ReadonlySet<string> = new Set(['model', 'stream', 'n'])

const headerName = text(
  /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/,
  'the name of a header',
  'Name of a header.',
).refine((name) => !keptHeaders.has(name.toLowerCase()), {
  error: 'is a header that no rule may change',
})

const fieldName = text(
  /^[A-Za-z_][\w-]{0,63}$/,
  'the name of a field at the top of the body; those inside of others cannot be named',
  'Name of a field at the top of the body.',
).refine((name) => !keptFields.has(name.toLowerCase()), {
  error: 'is a field that no rule may change',
})

const listOf = (names: typeof headerName, description: string) =>
  z.array(names).max(maxNames).meta({ description }).optional()

const isShort = (value: object): boolean => JSON.stringify(value).length <= maxValueBytes

const headers = strict({
  set: z
    .record(
      headerName,
      text(/^[\x20-\x7e]{1,2048}$/, '1 to 2048 printable characters', 'Value of the header.'),
    )
    .refine((value) => Object.keys(value).length <= maxNames, `must have at most ${maxNames} names`)
    .meta({ description: 'Headers to send, in place of those of the same name.' })
    .optional(),
  remove: listOf(headerName, 'Headers to leave out.'),
})

const body = strict({
  set: z
    .record(fieldName, z.unknown())
    .refine((value) => Object.keys(value).length <= maxNames, `must have at most ${maxNames} names`)
    .refine(isShort, `must have at most ${maxValueBytes} bytes`)
    .meta({ description: 'Fields to send, in place of those of the same name.' })
    .optional(),
  remove: listOf(fieldName, 'Fields to leave out.'),
})

type Part = {
  set?: Readonly<Record<string, unknown>> | undefined
  remove?: readonly string[] | undefined
}

/** One name, one rule. */
function contradiction({ set = {}, remove = [] }: Part, isHeader: boolean): string | undefined {
  const named = new Set<string>()
  return [...Object.keys(set), ...remove].find((name) => {
    const known = isHeader ? name.toLowerCase() : name
    const isSecond = named.has(known)
    named.add(known)
    return isSecond
  })
}

export const requestRules = strict({
  headers: headers.meta({ description: 'Headers of its requests.' }).optional(),
  body: body.meta({ description: 'Fields of its requests, at the top of the body.' }).optional(),
})
  .superRefine((rules, context) => {
    for (const part of ['headers', 'body'] as const) {
      const twice = rules[part] && contradiction(rules[part], part === 'headers')
      if (twice === undefined) continue
      const message = `has two rules for ${twice}`
      context.addIssue({ code: 'custom', path: [part], message })
    }
  })
  .meta({ description: 'What is changed in the requests of this channel, last of all.' })

type DeclaredRules = z.infer<typeof requestRules>

/** Undefined when nothing is changed. */
export function rulesFrom(declared: DeclaredRules | null | undefined): ChannelRules | undefined {
  if (declared == null) return undefined
  const { headers: of, body: fields } = declared
  const rules: ChannelRules = { ...partOf('headers', lowerCased(of)), ...partOf('body', fields) }
  return Object.keys(rules).length === 0 ? undefined : rules
}

const lowerCased = (part: Part | undefined): Part | undefined =>
  part && {
    set: Object.fromEntries(
      Object.entries(part.set ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    remove: part.remove?.map((name) => name.toLowerCase()),
  }

function partOf(name: 'headers' | 'body', part: Part | undefined): object {
  const { set = {}, remove = [] } = part ?? {}
  if (Object.keys(set).length === 0 && remove.length === 0) return {}
  return { [name]: { set, remove } }
}

/** What images and videos cost follows from these; a rule would change them behind the hold. */
const sizeFields: ReadonlySet<string> = new Set([
  ...['size', 'seconds', 'duration', 'resolution', 'ratio', 'aspect_ratio', 'frames', 'quality'],
  ...['framespersecond', 'parameters', 'input', 'instances', 'content', 'prompt', 'text'],
])

/** Why the rules cannot be those of a channel with such protocols. */
export function rulesProblem(
  body: Part | undefined,
  protocols: Readonly<Record<Protocol, unknown>> | undefined,
): string | undefined {
  const { set = {}, remove = [] } = body ?? {}
  const name = [...Object.keys(set), ...remove].find((each) => sizeFields.has(each))
  const tasks = Object.keys(protocols ?? {}).find((protocol) => taskProtocols.has(protocol))
  if (name === undefined || tasks === undefined) return undefined
  return `names ${name}, on which the price of ${tasks} calls depends`
}
