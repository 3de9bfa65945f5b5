// The search of the documentation. The gateway sends all sections once; everything else happens here, without
// any other server.
import MiniSearch from 'minisearch'

interface Entry {
  page: string
  title: string
  url: string
  text: string
  isForContributors?: boolean
}

const maxResults = 12
const excerptLength = 110
/** After this long the reader is told. */
const slowMs = 300
/** Say nothing about what is looked for. */
const fillers = new Set(
  'a an and are as at by can do for from how i in is it my of on or the to with'.split(' '),
)

let index: Promise<MiniSearch<Entry & { id: number }>> | undefined

/** Loaded when the field is used for the first time; after a failure once more. */
function loadIndex() {
  index ??= fetch('/docs/search.json')
    .then((response) => response.json() as Promise<Entry[]>)
    .then((entries) => {
      const search = new MiniSearch<Entry & { id: number }>({
        fields: ['title', 'page', 'text'],
        storeFields: ['page', 'title', 'url', 'text', 'isForContributors'],
        searchOptions: {
          boost: { title: 4, page: 3 },
          prefix: true,
          boostDocument: (_id, _term, stored) => (stored?.['isForContributors'] ? 0.3 : 1),
          fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        },
        processTerm: (term) => {
          const word = term.toLowerCase()
          return fillers.has(word) ? null : word
        },
      })
      search.addAll(entries.map((entry, id) => ({ ...entry, id })))
      return search
    })
    .catch((error) => {
      index = undefined
      throw error
    })
  return index
}

/** The words around the first hit. */
function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase()
  const found = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0)
  const start = Math.max(0, Math.min(...found, text.length) - 40)
  const from = found.length === 0 ? 0 : start
  const cut = text.slice(from, from + excerptLength)
  return `${from > 0 ? '…' : ''}${cut}${from + excerptLength < text.length ? '…' : ''}`
}

const markup = `<svg width="16" height="16" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true"><path d="M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4"/></svg>
<input type="search" role="combobox" aria-label="Search the documentation" aria-expanded="false" aria-controls="results" aria-autocomplete="list" placeholder="Search" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd>
<ul id="results" role="listbox" aria-label="Results" hidden></ul><p class="search-note" role="status" hidden></p>`

/** The field and the list of what was found below it. */
class SearchBox {
  readonly field: HTMLInputElement
  private readonly list: HTMLElement
  private readonly note: HTMLElement
  private selected = 0

  constructor(box: HTMLElement) {
    box.innerHTML = markup
    box.hidden = false
    this.field = box.querySelector('input')!
    this.list = box.querySelector('ul')!
    this.note = box.querySelector<HTMLElement>('.search-note')!
    this.field.addEventListener('focus', () => void loadIndex().catch(() => {}))
    this.field.addEventListener('input', () => void this.show())
    this.field.addEventListener('keydown', (event) => this.press(event))
    this.list.addEventListener('click', () => this.close())
    document.addEventListener('click', (event) => {
      if (!box.contains(event.target as Node)) this.close()
    })
  }

  private options(): HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>('[role=option]')]
  }

  private close(): void {
    this.list.hidden = true
    this.note.hidden = true
    this.field.setAttribute('aria-expanded', 'false')
    this.field.removeAttribute('aria-activedescendant')
  }

  private select(to: number): void {
    const all = this.options()
    if (all.length === 0) return
    this.selected = (to + all.length) % all.length
    for (const [i, each] of all.entries()) {
      each.setAttribute('aria-selected', String(i === this.selected))
    }
    this.field.setAttribute('aria-activedescendant', all[this.selected]!.id)
    all[this.selected]!.scrollIntoView({ block: 'nearest' })
  }

  private explain(text: string): void {
    this.list.hidden = true
    this.note.textContent = text
    this.note.hidden = false
  }

  private async show(): Promise<void> {
    const query = this.field.value.trim()
    if (query === '') return this.close()
    const slow = setTimeout(() => this.explain('Loading the search…'), slowMs)
    try {
      const search = await loadIndex()
      if (this.field.value.trim() !== query) return
      const all = search.search(query, { combineWith: 'AND' })
      const found = (all.length > 0 ? all : search.search(query)).slice(0, maxResults)
      if (found.length === 0) return this.explain(`Nothing found for “${query}”.`)
      this.list.replaceChildren(...found.map(optionOf))
      this.note.hidden = true
      this.list.hidden = false
      this.field.setAttribute('aria-expanded', 'true')
      this.select(0)
    } catch {
      this.explain('The gateway does not answer. Try again in a moment.')
    } finally {
      clearTimeout(slow)
    }
  }

  private press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      this.select(this.selected + step)
    } else if (event.key === 'Enter') this.options()[this.selected]?.querySelector('a')?.click()
    else if (event.key === 'Escape') {
      this.close()
      this.field.blur()
    }
  }
}

export function prepareSearch(): void {
  const box = document.querySelector<HTMLElement>('.search')
  if (box === null) return
  const { field } = new SearchBox(box)
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement
    const isKey = event.key === '/' || ((event.ctrlKey || event.metaKey) && event.key === 'k')
    if (!isKey || (isTyping && event.key === '/')) return
    event.preventDefault()
    field.focus()
    field.select()
  })
}

function optionOf(
  { url, title, page, text, queryTerms }: Record<string, unknown> & { queryTerms: string[] },
  at: number,
): HTMLLIElement {
  const option = document.createElement('li')
  option.id = `result-${at}`
  option.setAttribute('role', 'option')
  const link = document.createElement('a')
  link.href = String(url)
  link.tabIndex = -1
  const line = (name: 'b' | 'small' | 'span', content: string) => {
    const element = document.createElement(name)
    element.textContent = content
    link.append(element)
  }
  line('b', String(title))
  if (page !== title) line('small', String(page))
  line('span', excerptOf(String(text), queryTerms))
  option.append(link)
  return option
}
