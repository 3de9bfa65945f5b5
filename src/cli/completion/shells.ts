// Completion scripts for bash, zsh and fish. They are whole: no completion starts the gateway command again.
import { type FlagWord, type Node, programs } from './tree.ts'

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const dashed = ({ name }: FlagWord): string => `--${name}`

/** Cases of a shell's `case "$at" in`, one for each node with something to say. */
const cases = (nodes: readonly Node[], of: (node: Node) => string): string =>
  nodes
    .map((node): [string, string] => [quote(node.path.join(' ')), of(node)])
    .filter(([, text]) => text !== '')
    .map(([pattern, text]) => `    ${pattern}) ${text} ;;`)
    .join('\n')

/** Values of flags, by the command and the flag before the cursor. */
const valueCases = (nodes: readonly Node[], of: (values: readonly string[]) => string): string =>
  nodes
    .flatMap(({ path, flags }) =>
      flags
        .filter(({ values }) => values.length > 0)
        .map((flag) => `    ${quote(`${path.join(' ')} ${dashed(flag)}`)}) ${of(flag.values)} ;;`),
    )
    .join('\n')

const names = programs.join(' ')

export const bashScript = (nodes: readonly Node[]): string => `# bash completion of gateway
#   eval "$(gateway completion bash)"
_gateway() {
  local at= flags= words= cur=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${at:+$at }\${COMP_WORDS[i]}" in
      ${pathPattern(nodes)}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
      *) break ;;
    esac
  done
  COMPREPLY=()
  case "$at $before" in
${valueCases(nodes, (values) => `COMPREPLY=($(compgen -W ${quote(values.join(' '))} -- "$cur")); return`)}
  esac
  case "$at" in
${cases(nodes, ({ flags }) => (flags.length === 0 ? '' : `flags=${quote(flags.map(dashed).join(' '))}`))}
  esac
  case "$at" in
${cases(nodes, ({ words }) => (words.length === 0 ? '' : `words=${quote(words.map(({ word }) => word).join(' '))}`))}
  esac
  case $cur in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -o default -F _gateway ${names}
`

const pathPattern = (nodes: readonly Node[]): string =>
  nodes
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => quote(path.join(' ')))
    .join('|')

/** `name:what it is`, as _describe takes it. */
const described = (items: readonly (readonly [string, string])[]): string =>
  items.map(([name, summary]) => quote(`${name.replaceAll(':', '\\:')}:${summary}`)).join(' ')

export const zshScript = (nodes: readonly Node[]): string => `#compdef ${names}
# zsh completion of gateway
#   eval "$(gateway completion zsh)"
_gateway() {
  local at= i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    case "\${at:+$at }\${words[i]}" in
      ${pathPattern(nodes)}) at="\${at:+$at }\${words[i]}" ;;
      *) break ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${valueCases(nodes, (values) => `compadd -- ${values.map(quote).join(' ')}; return`)}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    case "$at" in
${cases(nodes, ({ flags }) => (flags.length === 0 ? '' : `items=(${described(flags.map((flag) => [dashed(flag), flag.summary]))})`))}
    esac
    _describe flag items
  else
    case "$at" in
${cases(nodes, ({ words }) => (words.length === 0 ? '' : `items=(${described(words.map(({ word, summary }) => [word, summary]))})`))}
    esac
    if (( \${#items} )); then _describe command items; else _files; fi
  fi
}
if [[ \${funcstack[1]} == _gateway ]]; then _gateway "$@"; else compdef _gateway ${names}; fi
`

export function fishScript(nodes: readonly Node[]): string {
  const lines = programs.flatMap((program) => nodes.flatMap((node) => fishLines(program, node)))
  return `# fish completion of gateway
#   gateway completion fish | source
function __gateway_at
  set -l words (commandline -opc)
  set -l at
  for word in $words[2..-1]
    contains -- (string join ' ' -- $at $word) ${pathWords(nodes)}
    or break
    set -a at $word
  end
  test (string join ' ' -- $at) = "$argv"
end
${lines.join('\n')}
`
}

const pathWords = (nodes: readonly Node[]): string =>
  nodes
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => fishQuote(path.join(' ')))
    .join(' ')

const fishQuote = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fishLines(program: string, { path, words, flags }: Node): string[] {
  const start = `complete -c ${program} -n ${fishQuote(`__gateway_at ${path.join(' ')}`.trim())}`
  return [
    ...words.map(({ word, summary }) => `${start} -f -a ${word} -d ${fishQuote(summary)}`),
    ...flags.map(({ name, summary, takesValue, values }) => {
      const value =
        values.length > 0 ? ` -x -a ${fishQuote(values.join(' '))}` : takesValue ? ' -r' : ''
      return `${start} -l ${name}${value} -d ${fishQuote(summary)}`
    }),
  ]
}
