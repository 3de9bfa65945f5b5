// Writes gateway.schema.json, by which editors check and complete gateway.yaml. Run it after a
// change of src/contract; a test keeps the two equal.
import { z } from 'zod'
import { fileDeclaration } from '../src/contract/config-schema/index.ts'

export const schemaPath = new URL('../gateway.schema.json', import.meta.url)

export function schemaText(): string {
  const schema = z.toJSONSchema(fileDeclaration, { target: 'draft-2020-12', io: 'input' })
  return `${print(allowVariables(schema), '')}\n`
}

const variable = '\\$\\{'

// ${NAME} stands for a value the editor cannot see, so it must pass every rule about that value.
// Names of properties are never taken from the environment.
function allowVariables(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(allowVariables)
  if (typeof node !== 'object' || node === null) return node
  const pairs = Object.entries(node)
  const schema: Record<string, unknown> = Object.fromEntries(
    pairs.map(([key, value]) => [key, key === 'propertyNames' ? value : allowVariables(value)]),
  )
  if (schema.type === 'string' && typeof schema.pattern === 'string') {
    schema.pattern = `${schema.pattern}|${variable}`
    delete schema.format
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    schema.type = [schema.type, 'string']
    schema.pattern = variable
    // The runtime's own bounds of a whole number tell an editor nothing.
    if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
    if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  }
  return schema
}

// The formatter's layout: lists of plain values on one line where they fit.
function print(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    const isPlain = value.every((item) => typeof item !== 'object')
    if (isPlain && line.length + indent.length < 80) return line
    const items = value.map((item) => deeper + print(item, deeper))
    return `[\n${items.join(',\n')}\n${indent}]`
  }
  const pairs = Object.entries(value)
  if (pairs.length === 0) return '{}'
  const lines = pairs.map(
    ([key, item]) => `${deeper}${JSON.stringify(key)}: ${print(item, deeper)}`,
  )
  return `{\n${lines.join(',\n')}\n${indent}}`
}

if (import.meta.main) await Bun.write(schemaPath, schemaText())
