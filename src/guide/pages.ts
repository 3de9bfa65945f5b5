// The pages of the guide: where their texts lie, what they are called and in which order they are read, as
// docs/README.md has it.
import { assets } from '../lib/assets.ts'
import { parse } from './markdown.ts'

export const guidePath = '/docs/guide'
export const firstPage = 'README'
/** Folders of docs whose pages are served. A page is addressed by its name, which is unique among them. */
const folders = ['use/', 'run/', 'money/', 'contribute/', '']

/** The file of a page; the first page has no name in its address. */
export function fileOf(name: string): string | undefined {
  const folder = folders.find((each) => assets.docs.has(`${each}${name}`)) ?? ''
  return assets.docs.get(`${folder}${name === '' ? firstPage : name}`)
}

export const addressOf = (name: string): string =>
  name === '' || name === firstPage ? guidePath : `${guidePath}/${name}`

/** The address of a link in a text; other files of the repository are not served. */
export function linkFor(href: string): string | undefined {
  if (/^(https?:|[/#])/.test(href)) return href
  const { page, anchor } = pageIn(href) ?? {}
  if (page === undefined) return undefined
  return page === firstPage ? guidePath : `${guidePath}/${page}${anchor}`
}

/** The page that a link names, if it is served; records of decisions are not. */
function pageIn(href: string): { page: string; anchor: string } | undefined {
  const [, path, page, anchor = ''] = /^([^:#]*?)([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  if (page === undefined || path!.includes('decisions/')) return undefined
  return fileOf(page) === undefined ? undefined : { page, anchor }
}

export interface MenuGroup {
  title: string
  /** For whom it is. */
  audience: string
  pages: readonly { name: string; title: string }[]
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The sections of the table of contents, with the pages that each links to. */
export function menuOf(contents: string): MenuGroup[] {
  const groups: { title: string; audience: string; pages: { name: string; title: string }[] }[] = []
  const tokens = parse(contents)
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open' && token.tag === 'h2') {
      const audience = tokens[at + 3]?.type === 'paragraph_open' ? tokens[at + 4]!.content : ''
      groups.push({ title: tokens[at + 1]!.content, audience, pages: [] })
    }
    for (const [i, child] of (token.children ?? []).entries()) {
      if (child.type !== 'link_open') continue
      const name = pageIn(String(child.attrGet('href')))?.page
      if (name === undefined) continue
      groups
        .at(-1)
        ?.pages.push({ name, title: capitalised(token.children![i + 1]?.content ?? name) })
    }
  })
  return groups.filter(({ pages }) => pages.length > 0)
}
