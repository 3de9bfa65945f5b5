// What a group of usage is called: units by their word, everything else by its own name.
import { type Keys, separator } from '../../lib/resources/usage.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'

export function useName({ group, subgroup }: Keys): (name: string) => string {
  const server = useServerText()
  const shown = (key: string | undefined, name: string) =>
    key === 'unit' ? server.text('unit', name) : name
  if (group !== 'unit' && subgroup !== 'unit') return (name) => name
  return (name) => {
    const [first = '', ...rest] = name.split(separator)
    const second = rest.join(separator)
    const head = shown(group, first)
    return second === '' ? head : `${head}${separator}${shown(subgroup, second)}`
  }
}
