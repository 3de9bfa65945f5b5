// What a surface declares besides its routes: its path prefixes, where callers send their token, the shape
// of its errors, and whether browsers may call it. Knows no single surface.
import type { Interface } from '../contract/catalog.ts'
import { type Refusal, type RefusalCode, refusals } from '../contract/errors.ts'
import type { Schema } from './schema.ts'

export interface ErrorDialect {
  /** Fields added at the top of the body, and inside its `error`. */
  render(
    refusal: Refusal,
    requestId: string,
    request: Request | undefined,
  ): { top?: object; error?: object }
  /** Codes whose status is another one than that of the table. */
  statuses?: Readonly<Partial<Record<RefusalCode, number>>>
  /** The whole body, as documents describe it; named. */
  schema: Schema
}

export const statusOf = (code: RefusalCode, { errors }: Pick<Dialect, 'errors'>): number =>
  errors?.statuses?.[code] ?? refusals[code].status

/** A place for the token besides `Authorization: Bearer`. */
export interface KeyPlace {
  /** Of its security scheme in the documents. */
  id: string
  /** A header is accepted on every path, a query parameter on the surface's own paths only. */
  in: 'header' | 'query'
  name: string
}

export interface DialectDeclaration {
  /** Whole segments: `/v1/videos` is also `/v1/videos/{id}`, and not `/v1/videos2`. */
  prefixes: readonly string[]
  /** Browsers of any origin may call what begins with the same segment. */
  browsers?: boolean
  /** Documents and the refusal of a caller without a token name the first one. */
  keyPlaces?: readonly KeyPlace[]
  errors?: ErrorDialect
  /** The text of an error in the words that clients of the surface act on; default: its message. */
  errorText?(refusal: Refusal): string
  /** The interface under which its refused requests are logged; default `chat`. */
  loggedAs?: Interface
}

/** How requests to one path are read and answered. */
export interface Dialect {
  browsers: boolean
  /** Headers that may carry the token, besides `Authorization`. */
  keyHeaders: readonly string[]
  queryKey?: string
  /** Named in the refusal of a caller without a token. */
  tokenHint: string
  /** Ids of the security schemes, the usual one first. */
  securityIds: readonly string[]
  errors?: ErrorDialect
  errorText?(refusal: Refusal): string
  loggedAs: Interface
}

export interface Dialects {
  at(path: string): Dialect
  keyPlaces: readonly KeyPlace[]
}

const usualPlaces: readonly KeyPlace[] = [{ id: 'apiKey', in: 'header', name: 'x-api-key' }]
const bearerId = 'token'
const bearerHint = 'Authorization: Bearer <token>'

export function createDialects(declared: readonly DialectDeclaration[]): Dialects {
  const keyPlaces = [...usualPlaces, ...declared.flatMap(({ keyPlaces = [] }) => keyPlaces)]
  const dialectOf = (declaration: Omit<DialectDeclaration, 'prefixes'>) =>
    resolved(declaration, keyPlaces)
  const owned = declared.flatMap((declaration) => {
    const dialect = dialectOf(declaration)
    return declaration.prefixes.map((prefix) => ({ prefix, dialect }))
  })
  const open = declared.filter(({ browsers }) => browsers === true)
  const roots = new Set(open.flatMap(({ prefixes }) => prefixes.map(firstSegment)))
  const [elsewhere, besideOpen] = [dialectOf({}), dialectOf({ browsers: true })]
  return {
    keyPlaces,
    at(path) {
      for (const { prefix, dialect } of owned) if (isUnder(path, prefix)) return dialect
      return roots.has(firstSegment(path)) ? besideOpen : elsewhere
    },
  }
}

function resolved(
  {
    browsers = false,
    keyPlaces = [],
    errors,
    errorText,
    loggedAs = 'chat',
  }: Omit<DialectDeclaration, 'prefixes'>,
  all: readonly KeyPlace[],
): Dialect {
  const headers = all.filter((place) => place.in === 'header')
  const query = keyPlaces.find((place) => place.in === 'query')
  const [first] = keyPlaces
  const ids = [first?.id, bearerId, ...headers.map(({ id }) => id), query?.id]
  return {
    browsers,
    keyHeaders: headers.map(({ name }) => name),
    ...(query !== undefined && { queryKey: query.name }),
    tokenHint: first === undefined ? bearerHint : `${first.name}: <token>`,
    securityIds: [...new Set(ids.filter((id) => id !== undefined))],
    ...(errors !== undefined && { errors }),
    ...(errorText !== undefined && { errorText }),
    loggedAs,
  }
}

const isUnder = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')

/** /v1/videos/x -> /v1 */
const firstSegment = (path: string): string => {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}

/** For a gateway without surfaces, such as the admin API. */
export const plainDialect: Dialect = createDialects([]).at('/')
