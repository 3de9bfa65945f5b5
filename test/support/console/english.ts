// English that is left on a page in Chinese: three English words in a row. What callers and operators
// wrote themselves, code and names are not meant.
import type { Page } from 'playwright-core'

/** What is written in English in every language. */
const allowed = [
  /Model Gateway/g,
  /\b(?:API|URL|URLs|JSON|YAML|CSV|HTTP|OpenID Connect|Token|Tokens|gateway\.yaml|curl|Python|Node|JSONL|POST)\b/g,
]

export async function englishOn(
  page: Page,
  /** Words of callers and upstreams. */
  quoted: readonly RegExp[] = [],
): Promise<string[]> {
  const texts = await page.evaluate<string[]>(`(() => {
    const found = []
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
      const element = node.parentElement
      if (element.closest('code, pre, script, style, textarea, [lang=en], .private') !== null) continue
      if (element.checkVisibility() && node.textContent.trim() !== '') found.push(node.textContent)
    }
    return found
  })()`)
  return texts.filter((text) => {
    const rest = [...quoted, ...allowed].reduce((left, pattern) => left.replace(pattern, '·'), text)
    return /[A-Za-z]{2,}(?: [A-Za-z']+){2,}/.test(rest)
  })
}
