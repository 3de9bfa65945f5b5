// Examples of the documentation: a copy button, one tab for each language, and the reader's own token in place
// of the variable. The token stays in this tab of the browser.

const languageKey = 'gateway-docs-language'
const tokenKey = 'gateway-docs-token'

const read = (storage: Storage, key: string): string => {
  try {
    return storage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

const write = (storage: Storage, key: string, value: string): void => {
  try {
    storage.setItem(key, value)
  } catch {
    // It holds until the page is closed.
  }
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name)
  if (className !== '') element.className = className
  element.textContent = text
  return element
}

export function prepareExamples(): void {
  for (const figure of document.querySelectorAll<HTMLElement>('figure.code')) addCopy(figure)
  const groups = [...document.querySelectorAll<HTMLElement>('.tabs')].map(makeTabs)
  const choose = (name: string) => {
    for (const show of groups) show(name)
  }
  document.addEventListener('choose-language', (event) => {
    const name = (event as CustomEvent<string>).detail
    write(localStorage, languageKey, name)
    choose(name)
  })
  choose(read(localStorage, languageKey))
  prepareToken()
}

const copiedMs = 1_500

function addCopy(figure: HTMLElement): void {
  const button = make('button', 'copy', 'Copy')
  button.type = 'button'
  button.addEventListener('click', async () => {
    const code = figure.querySelector('code')?.textContent ?? ''
    const isCopied = await navigator.clipboard.writeText(code).then(
      () => true,
      () => false,
    )
    button.textContent = isCopied ? 'Copied' : 'Select and copy by hand'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, copiedMs)
  })
  figure.querySelector('figcaption')?.append(button)
}

/** A tab and its panel know each other. */
function tabFor(panel: HTMLElement, id: string): HTMLButtonElement {
  const tab = make('button', '', panel.dataset['tab'])
  tab.type = 'button'
  tab.id = `tab-${id}`
  panel.id = `panel-${id}`
  tab.setAttribute('role', 'tab')
  tab.setAttribute('aria-controls', panel.id)
  panel.setAttribute('role', 'tabpanel')
  panel.setAttribute('aria-labelledby', tab.id)
  return tab
}

/** Returns what shows the tab of a name, or the first one. */
function makeTabs(group: HTMLElement, at: number): (name: string) => void {
  const panels = [...group.querySelectorAll<HTMLElement>(':scope > [data-tab]')]
  const tabs = panels.map((panel, i) => tabFor(panel, `${at}-${i}`))
  const choose = (i: number) => {
    const detail = panels[i]!.dataset['tab']
    document.dispatchEvent(new CustomEvent('choose-language', { detail }))
    tabs[i]!.focus()
  }
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => choose(i))
    tab.addEventListener('keydown', ({ key }) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[key]
      if (by !== undefined) choose((i + by + tabs.length) % tabs.length)
    })
  })
  const list = make('div', 'tab-list')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  list.append(...tabs)
  group.prepend(list)
  group.setAttribute('data-ready', '')
  return (name) => {
    const shown = Math.max(
      panels.findIndex((panel) => panel.dataset['tab'] === name),
      0,
    )
    panels.forEach((panel, i) => {
      panel.hidden = i !== shown
      tabs[i]!.setAttribute('aria-selected', String(i === shown))
      tabs[i]!.tabIndex = i === shown ? 0 : -1
    })
  }
}

/** A field above the first example that needs a token. */
function prepareToken(): void {
  const places = [...document.querySelectorAll<HTMLElement>('[data-token]')]
  const first = places[0]?.closest('.tabs') ?? places[0]?.closest('figure')
  if (first === null || first === undefined) return
  const plain = places.map((place) => place.textContent)
  const label = make('label', 'token-field', 'Your API token')
  const field = make('input', '')
  Object.assign(field, { type: 'text', autocomplete: 'off', spellcheck: false })
  field.placeholder = 'sk-…'
  const note = make('small', '', 'Filled into the examples. It stays in this tab.')
  label.append(field, note)
  if (places[0]?.closest('details') === null) first.before(label)
  const fill = () => {
    const token = field.value.trim()
    places.forEach((place, i) => {
      const quote = place.dataset['token'] ?? ''
      place.textContent = token === '' ? (plain[i] ?? '') : `${quote}${token}${quote}`
      place.toggleAttribute('data-filled', token !== '')
    })
    write(sessionStorage, tokenKey, token)
  }
  field.value = read(sessionStorage, tokenKey)
  field.addEventListener('input', fill)
  fill()
}
