// Import circles: groups of files that all reach each other by imports, those of types included.
import { importsOf, resolveImport, type SourceFile } from './sources.ts'

/** Files of each circle, sorted; by Tarjan's algorithm for strongly connected components. */
export function circlesIn(files: readonly SourceFile[]): string[][] {
  const known = new Set(files.map(({ path }) => path))
  const targets = new Map(
    files.map((file) => {
      const named = importsOf(file).filter((name) => name.startsWith('.'))
      return [file.path, named.map((name) => resolveImport(file.path, name))]
    }),
  )
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const circles: string[][] = []

  function visit(path: string): void {
    order.set(path, order.size)
    low.set(path, order.get(path)!)
    stack.push(path)
    onStack.add(path)
    for (const target of targets.get(path)!) {
      if (!known.has(target)) continue
      if (!order.has(target)) visit(target)
      if (onStack.has(target)) low.set(path, Math.min(low.get(path)!, low.get(target)!))
    }
    if (low.get(path) === order.get(path)) closeGroup(path)
  }

  function closeGroup(path: string): void {
    const group = stack.splice(stack.indexOf(path))
    for (const member of group) onStack.delete(member)
    if (group.length > 1 || targets.get(path)!.includes(path)) circles.push(group.sort())
  }

  for (const { path } of files) if (!order.has(path)) visit(path)
  return circles.sort((one, other) => other.length - one.length)
}
