// The page about coding tools: it names every tool that is tested, its lines are sound, and what stands
// in them can be replaced. The tools themselves run in coding-tools.test.ts.
import { describe, expect, test } from 'bun:test'
import { parse as parseYaml } from 'yaml'
import { linesOf, sections, written } from './guide.ts'
import { codingTools } from './tools.ts'

const all = sections()

/** The files that the lines write: name and text. */
const filesIn = (text: string): [name: string, text: string][] =>
  [...text.matchAll(/^cat > (\S+) <<'EOF'\n([\s\S]*?)^EOF$/gm)].map(([, name, inner]) => [
    name!,
    inner!,
  ])

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  json: JSON.parse,
  toml: Bun.TOML.parse,
  yaml: parseYaml,
}

test('every tool has a section with lines to paste, and every section is tested', () => {
  const shown = all.map(({ name, speaks }) => [name, speaks])
  const tested = codingTools.filter(({ variant }) => variant === undefined)
  expect(shown).toEqual(tested.map(({ name, speaks }) => [name, speaks]))
})

describe.each(all)('$name', (section) => {
  const here = { url: 'http://localhost:65001', model: 'other-model', prompt: `It's "$x"\n` }
  const lines = linesOf(section, here)

  test('its lines name the address, the model, the token and the question', () => {
    const text = section.fences.map((fence) => fence.text).join('\n')
    for (const each of Object.values(written)) expect(text).toContain(each)
    expect(text).toContain('GATEWAY_TOKEN')
    for (const each of Object.values(written)) expect(lines).not.toContain(each)
  })

  test('a shell reads them', () => {
    const { exitCode, stderr } = Bun.spawnSync(['sh', '-n'], { stdin: Buffer.from(lines) })
    expect([exitCode, String(stderr)]).toEqual([0, ''])
  })

  test('the files that they write are well-formed', () => {
    for (const [name, text] of filesIn(lines)) {
      expect(parsers[name.split('.').at(-1)!]!(text)).toBeObject()
    }
  })
})
