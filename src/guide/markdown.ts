// A text of docs as HTML, with its title and its headings, or its sections as plain text for the search.
import MarkdownIt, { type Token } from 'markdown-it'
import { type Fence, fencesHtml } from './code.ts'

export interface Heading {
  level: number
  id: string
  text: string
}

interface Section extends Heading {
  /** What follows it, without marks. */
  body: string
}

interface Rendered {
  title: string
  html: string
  headings: readonly Heading[]
}

/** The address of a link; undefined: the page does not have it, and the link becomes plain text. */
type LinkFor = (href: string) => string | undefined

const markdown = new MarkdownIt({ html: false })
markdown.renderer.rules['table_open'] = () => '<div class="table"><table>\n'
markdown.renderer.rules['table_close'] = () => '</table></div>\n'

export const parse = (text: string): Token[] => markdown.parse(text, {})

/** The content policy takes no style from an attribute. */
function alignByClass({ attrs }: Token): void {
  const style = attrs?.find(([name]) => name === 'style')
  if (style === undefined) return
  style[0] = 'class'
  style[1] = `align-${String(style[1]).replace('text-align:', '')}`
}

export function render(text: string, linkFor: LinkFor): Rendered {
  const tokens = parse(text)
  const headings = nameHeadings(tokens)
  for (const token of tokens) {
    if (token.children !== null) rewrite(token.children, linkFor)
    if (/^t[hd]_open$/.test(token.type)) alignByClass(token)
  }
  return {
    title: headings[0]?.text ?? 'Documentation',
    html: markdown.renderer.render(joinFences(tokens), markdown.options, {}),
    headings,
  }
}

/** The text under each heading, for the search. */
export function sectionsIn(text: string): Section[] {
  const tokens = parse(text)
  return sectionsOf(tokens, nameHeadings(tokens))
}

const textOf = ({ children, content }: Token): string =>
  children === null
    ? content
    : children.map((child) => (child.type === 'softbreak' ? ' ' : child.content)).join('')

/** As GitHub names them. */
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')

function nameHeadings(tokens: readonly Token[]): Heading[] {
  const seen = new Map<string, number>()
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return []
    const text = textOf(tokens[at + 1]!)
    const slug = slugOf(text)
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    const id = count === 0 ? slug : `${slug}-${count}`
    token.attrSet('id', id)
    return [{ level: Number(token.tag.slice(1)), id, text }]
  })
}

/** Links between the texts become links between the pages; pictures of the repository are not served. */
function rewrite(children: Token[], linkFor: LinkFor): void {
  let isDropped = false
  const kept = children.filter((child) => {
    if (child.type === 'image') return /^https?:/.test(String(child.attrGet('src')))
    if (child.type === 'link_close') {
      const isKept = !isDropped
      isDropped = false
      return isKept
    }
    if (child.type !== 'link_open') return true
    const href = linkFor(String(child.attrGet('href')))
    if (href === undefined) {
      isDropped = true
      return false
    }
    child.attrSet('href', href)
    return true
  })
  children.splice(0, children.length, ...kept)
}

/** The words after the language of a fence are for the tests. */
const fenceOf = ({ info, content }: Token): Fence => {
  const [language = '', kind] = info.split(' ')
  return { language, isOutput: kind === 'output', code: content.replace(/\n$/, '') }
}

/** Fences in a row become one piece of HTML. */
function joinFences(tokens: readonly Token[]): Token[] {
  const joined: Token[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    if (token.type !== 'fence') {
      joined.push(token)
      continue
    }
    const fences = [fenceOf(token)]
    while (tokens[at + 1]?.type === 'fence') fences.push(fenceOf(tokens[++at]!))
    token.type = 'html_block'
    token.content = fencesHtml(fences)
    joined.push(token)
  }
  return joined
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): Section[] {
  const bodies: string[][] = []
  let isHeading = false
  for (const token of tokens) {
    if (token.type === 'heading_open') bodies.push([])
    if (token.type.startsWith('heading_')) isHeading = token.type === 'heading_open'
    else if (!isHeading && token.type === 'inline') bodies.at(-1)?.push(textOf(token))
  }
  return headings.map((heading, i) => ({ ...heading, body: (bodies[i] ?? []).join(' ') }))
}
