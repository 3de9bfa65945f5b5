// Takes secrets out of anything that is to be shown or handed on: by what is known to be one, by what a
// field is called, and by how a text looks.
import type { Cleaner } from '../../lib/redact/index.ts'

const secretName = /^(?:keys?|token|.*secret.*|.*password.*|.*_key|.*_key_id|authorization)$/i
/** Tokens of callers, secrets of callbacks, credentials before a host. */
const secretShapes: readonly (readonly [RegExp, string])[] = [
  [/\bsk-[\w-]{16,}/g, 'sk-***'],
  [/\bwhsec_[\w+/=]{16,}/g, 'whsec_***'],
  [/(:\/\/)[^/\s:@"]+:[^/\s@"]+@/g, '$1***@'],
]
const mask = '***'
const maxDepth = 32

export function withoutSecrets(
  { cleaner }: { readonly cleaner: Cleaner },
  value: unknown,
): unknown {
  const text = (given: string) =>
    secretShapes.reduce((kept, [shape, put]) => kept.replace(shape, put), cleaner.cleanLine(given))
  const walk = (node: unknown, depth: number): unknown => {
    if (typeof node === 'string') return text(node)
    if (typeof node !== 'object' || node === null) return node
    if (depth > maxDepth) return mask
    if (Array.isArray(node)) return node.map((each) => walk(each, depth + 1))
    return Object.fromEntries(
      Object.entries(node).map(([name, each]) => [
        text(name),
        secretName.test(name)
          ? masked(each, (rest) => walk(rest, depth + 1))
          : walk(each, depth + 1),
      ]),
    )
  }
  return walk(value, 0)
}

/** Counts of secrets are none, nor is whether there is one. */
function masked(value: unknown, otherwise: (value: unknown) => unknown): unknown {
  if (typeof value === 'string') return mask
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
    return otherwise(value)
  }
  return value.map(() => mask)
}
