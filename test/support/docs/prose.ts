// What the prose of the repository names: requests, paths of files, and words that it should not use.

export interface Named {
  /** page:line */
  place: string
  text: string
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

function findAll(
  page: string,
  text: string,
  pattern: RegExp,
): { place: string; found: string[] }[] {
  return [...text.matchAll(pattern)].map((match) => ({
    place: `${page}:${lineAt(text, match.index)}`,
    found: [...match],
  }))
}

/** Requests such as `GET /v1/models?limit=1`, also over the end of a line. */
export const requestsIn = (page: string, text: string): Named[] =>
  findAll(page, text, /\b(GET|POST|PUT|PATCH|DELETE|HEAD)\s+`?(\/[^\s`'",)|]*)/g).map(
    ({ place, found: [, method, path] }) => ({ place, text: `${method} ${pathOnly(path!)}` }),
  )

/** Paths of this gateway in addresses and in code spans, without a method. */
export const pathsIn = (page: string, text: string): Named[] =>
  findAll(
    page,
    text,
    /(?:localhost:8080|GATEWAY_URL\}?|`)(\/(?:v1|admin\/v1|gateway\/v1|\w*vendor\w*)\/[^\s`'",)|\\]*)/g,
  ).map(({ place, found: [, path] }) => ({ place, text: pathOnly(path!) }))

const pathOnly = (path: string): string => path.replace(/[?#].*$/s, '').replace(/[.;:]+$/, '')

/** Whether a path as prose has it (`/v1/videos/$id`, `/v1/images/…`) is an address of the documents. */
export function isRouted(path: string, known: readonly string[]): boolean {
  const segments = path.split('/')
  if (segments.at(-1) === '…' || segments.at(-1) === '') {
    const start = segments.slice(0, -1).join('/')
    return known.some((each) => each.startsWith(`${start}/`))
  }
  return known.some((each) => {
    const expected = each.split('/')
    const fits = (segment: string, at: number) => isSegment(segment, expected[at]!)
    return expected.length === segments.length && segments.every(fits)
  })
}

/** `{id}` stands for anything; `{model}:predictLongRunning` for anything with that end. */
function isSegment(given: string, expected: string): boolean {
  if (given === expected) return true
  const [, end] = /^\{\w+\}(.*)$/.exec(expected) ?? []
  return end !== undefined && given.length > end.length && given.endsWith(end)
}

/** Files and folders that prose names from the root of the repository. */
export const filesIn = (page: string, text: string): Named[] =>
  findAll(
    page,
    text,
    /`((?:src|test|docs|sandbox|simulation|bench|scripts|console|deploy|examples)\/[\w./-]*)`/g,
  ).map(({ place, found: [, path] }) => ({ place, text: path! }))

/** Labels of the console, which pages show in italics: _New channel_. */
export const labelsIn = (page: string, text: string): Named[] =>
  findAll(page, text, /(?<=[\s(])_([A-Z][^_\n]+)_/g).map(({ place, found: [, label] }) => ({
    place,
    text: label!,
  }))

const vague = /\b(whoever|somebody|nobody|everybody)\b/i

export const vagueLinesIn = (page: string, text: string): Named[] =>
  text.split('\n').flatMap((line, at) => {
    return vague.test(line) ? [{ place: `${page}:${at + 1}`, text: line.trim() }] : []
  })
