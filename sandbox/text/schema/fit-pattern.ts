// A short text for a regular expression: literals, classes, groups, alternatives and repetitions.
// Undefined for anything else, such as look-around and back references.

/** What a position of the text can be. */
type Node =
  | { kind: 'letters'; choices: string }
  | { kind: 'group'; branches: Node[][] }
  | { kind: 'repeat'; node: Node; min: number; max: number }

const letters = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const classes: Readonly<Record<string, string>> = {
  d: digits,
  w: `${letters}${digits}_`,
  s: ' ',
  D: letters,
  W: '-',
  S: letters,
}
const printable = `${letters}${letters.toUpperCase()}${digits} !"#$%&'()*+,-./:;<=>?@[\\]^_{|}~`
const maxRepeat = 1_000

/** `more` repeats what may be repeated so often more; `variant` chooses other letters. */
export function fitPattern(pattern: string, more = 0, variant = 0): string | undefined {
  const parser = new Parser(pattern)
  const branches = parser.branches()
  if (branches === undefined || !parser.isAtEnd) return undefined
  return write({ kind: 'group', branches }, more, variant)
}

function write(node: Node, more: number, variant: number): string {
  if (node.kind === 'letters') return node.choices[variant % node.choices.length] ?? ''
  if (node.kind === 'group') {
    const branch = node.branches[variant % node.branches.length]!
    return branch.map((each) => write(each, more, variant)).join('')
  }
  const times = Math.min(node.min + more, node.max)
  return write(node.node, more, variant).repeat(times)
}

class Parser {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length
  }

  branches(): Node[][] | undefined {
    const branches: Node[][] = [[]]
    while (!this.isAtEnd && this.#source[this.#at] !== ')') {
      if (this.#take('|')) branches.push([])
      else if (!this.#take('^') && !this.#take('$')) {
        const node = this.#repeated()
        if (node === undefined) return undefined
        branches.at(-1)!.push(node)
      }
    }
    return branches
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    const found = new RegExp(pattern, 'yu')
    found.lastIndex = this.#at
    const match = found.exec(this.#source)
    this.#at += match?.[0].length ?? 0
    return match
  }

  #repeated(): Node | undefined {
    const node = this.#single()
    if (node === undefined) return undefined
    const found = this.#match(/([?*+]|\{(\d+)(,?)(\d*)\})\??/)
    if (found === null) return node
    const [, sign, low, comma, high] = found
    if (sign === '?') return { kind: 'repeat', node, min: 0, max: 1 }
    if (sign === '*' || sign === '+') {
      return { kind: 'repeat', node, min: sign === '+' ? 1 : 0, max: maxRepeat }
    }
    const max = comma === '' ? Number(low) : high === '' ? maxRepeat : Number(high)
    return { kind: 'repeat', node, min: Math.min(Number(low), maxRepeat), max }
  }

  #single(): Node | undefined {
    if (this.#take('(')) return this.#group()
    if (this.#take('[')) return this.#class()
    if (this.#take('.')) return { kind: 'letters', choices: letters }
    const choices = this.#letter()
    return choices === undefined ? undefined : { kind: 'letters', choices }
  }

  #group(): Node | undefined {
    if (this.#take('?') && !this.#take(':') && this.#match(/<\w+>/) === null) return undefined
    const branches = this.branches()
    return branches !== undefined && this.#take(')') ? { kind: 'group', branches } : undefined
  }

  /** One letter, or a class of them by its sign. */
  #letter(): string | undefined {
    const [, escaped, plain] = this.#match(/\\(.)|([^\\()[\]{}?*+|])/) ?? []
    if (plain !== undefined) return plain
    if (escaped === undefined || /[bB1-9kpPux]/.test(escaped)) return undefined
    return classes[escaped] ?? ({ n: '\n', t: '\t', r: '\r' }[escaped] || escaped)
  }

  #class(): Node | undefined {
    const isOpposite = this.#take('^')
    let choices = ''
    while (!this.#take(']')) {
      const from = this.#inClass()
      if (from === undefined) return undefined
      const to = from.length === 1 && this.#match(/-(?!\])/) ? this.#inClass() : undefined
      choices += to === undefined ? from : range(from, to)
    }
    if (!isOpposite) return choices === '' ? undefined : { kind: 'letters', choices }
    const rest = [...printable].filter((letter) => !choices.includes(letter)).join('')
    return rest === '' ? undefined : { kind: 'letters', choices: rest }
  }

  #inClass(): string | undefined {
    const [, escaped, plain] = this.#match(/\\(.)|([^\\\]])/) ?? []
    if (plain !== undefined) return plain
    return escaped === undefined ? undefined : (classes[escaped] ?? escaped)
  }
}

function range(from: string, to: string): string {
  const [low, high] = [from.codePointAt(0)!, to.codePointAt(0)!]
  const count = Math.min(Math.max(high - low + 1, 0), 256)
  return Array.from({ length: count }, (_, i) => String.fromCodePoint(low + i)).join('')
}
