// Leaves out of a bundled style what no script can use: Mantine names its classes by hashes (`m_be049a53`),
// and its whole style has those of all components. Pure.

const classes = /m_[0-9a-f]{6,}/g

/** The style without the rules of classes that none of the scripts names. */
export const usedStyles = (style: string, scripts: string): string =>
  withRules(style, new Set(scripts.match(classes)))

function withRules(style: string, used: ReadonlySet<string>): string {
  let result = ''
  for (let at = 0; at < style.length; ) {
    const open = style.indexOf('{', at)
    const semicolon = style.indexOf(';', at)
    const isStatement = semicolon !== -1 && (semicolon < open || open === -1)
    if (open === -1 && !isStatement) return result + style.slice(at)
    const end = isStatement ? semicolon + 1 : endOfBlock(style, open)
    result += isStatement
      ? style.slice(at, end)
      : rule(style.slice(at, open), style.slice(open + 1, end - 1), used)
    at = end
  }
  return result
}

/** After the brace that closes it. */
function endOfBlock(style: string, open: number): number {
  let depth = 1
  let at = open + 1
  while (depth > 0 && at < style.length) {
    if (style[at] === '{') depth++
    else if (style[at] === '}') depth--
    at++
  }
  return at
}

function rule(head: string, body: string, used: ReadonlySet<string>): string {
  const isGroup = /^\s*@(media|supports|layer|container)/.test(head)
  if (isGroup) {
    const rest = withRules(body, used)
    return rest === '' ? '' : `${head}{${rest}}`
  }
  const selectors = head
    .split(/,(?![^(]*\))/)
    .filter((selector) => required(selector).every((each) => used.has(each)))
  return selectors.length === 0 ? '' : `${selectors.join(',')}{${body}}`
}

/** In parentheses there are alternatives. */
const required = (selector: string): readonly string[] =>
  selector.replace(/\([^()]*\)/g, '').match(classes) ?? []
