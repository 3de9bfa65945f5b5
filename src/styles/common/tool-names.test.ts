// Names of tools survive the way to an upstream and back, however long or odd they are.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Tool } from './conversation.ts'
import { ToolNames } from './tool-names.ts'

const allowed = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

test('a name that the upstream allows stays', () => {
  const names = new ToolNames([{ name: 'read_file' }], allowed)
  expect(names.upstream({ name: 'read_file' })).toBe('read_file')
  expect(names.original('read_file')).toEqual({ name: 'read_file', freeForm: false })
})

test('a long name is shortened the same way in every process, and restored', () => {
  const name = `mcp__${'server'.repeat(15)}__tool`
  const names = new ToolNames([{ name }], allowed)
  const sent = names.upstream({ name })
  expect(sent).toMatch(allowed)
  expect(names.original(sent)).toEqual({ name, freeForm: false })
  expect(new ToolNames([], allowed).upstream({ name })).toBe(sent)
})

test('a member of a namespace is sent under both names and split again', () => {
  const names = new ToolNames([{ name: 'search', namespace: 'docs' }], allowed)
  expect(names.upstream({ name: 'search', namespace: 'docs' })).toBe('docs__search')
  expect(names.original('docs__search')).toEqual({
    name: 'search',
    namespace: 'docs',
    freeForm: false,
  })
})

test('a tool without a namespace keeps its name, a member with the same gets another', () => {
  const tools: Tool[] = [{ name: 'search', namespace: 'docs' }, { name: 'docs__search' }]
  const names = new ToolNames(tools, allowed)
  expect(names.upstream({ name: 'docs__search' })).toBe('docs__search')
  const member = names.upstream({ name: 'search', namespace: 'docs' })
  expect(member).not.toBe('docs__search')
  expect(names.original(member)).toMatchObject({ name: 'search', namespace: 'docs' })
})

test('a free-form tool is known again', () => {
  const names = new ToolNames([{ name: 'apply_patch', freeForm: {} }], allowed)
  expect(names.original('apply_patch').freeForm).toBe(true)
})

test('any set of names is sent as allowed names and comes back as it was', () => {
  const named = fc.record({ name: fc.string({ minLength: 1 }) })
  fc.assert(
    fc.property(fc.uniqueArray(named, { selector: ({ name }) => name }), (tools) => {
      const names = new ToolNames(tools, allowed)
      for (const { name } of tools) {
        const sent = names.upstream({ name })
        expect(sent).toMatch(allowed)
        expect(names.original(sent).name).toBe(name)
      }
    }),
  )
})
