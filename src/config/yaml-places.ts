// Finds the place of a setting in a YAML document, to tell an operator where to look.
import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'

interface Place {
  /** The node at the path, behind aliases, if there is one. */
  node: Node | undefined
  key: Node | undefined
  /** Where an operator should look: the deepest existing node on the path. */
  at: Node | undefined
}

export const offsetOf = (place: Place, atKey: boolean): number =>
  ((atKey ? place.key : undefined) ?? place.at)?.range?.[0] ?? 0

export function locate(doc: Document, path: readonly (string | number)[]): Place {
  const behind = (node: unknown) => (isAlias(node) ? node.resolve(doc) : node) as Node | undefined
  let node = behind(doc.contents)
  let key: Node | undefined
  let at = node
  for (const step of path) {
    let next: unknown
    key = undefined
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === step)
      key = pair?.key as Node | undefined
      next = pair?.value
    } else if (isSeq(node)) {
      next = node.items[Number(step)]
    }
    at = ((next ?? key) as Node | undefined) ?? at
    node = behind(next)
  }
  return { node, key, at }
}
