// SDKs of other languages than JavaScript through the same table: every style, over upstreams of each of the
// four. A program per language (test/sdk/clients) asks and prints what its SDK made of the answers; all
// that is judged is judged here. What is not installed is left out.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { askedOf } from '../support/asked.ts'
import { apiToken, root, tempDir } from '../support/gateway.ts'
import { type OneWireStage, startOneWire, type Wire, wires } from '../support/one-wire.ts'
import { languages } from './clients/languages.ts'
import { expectLoop, picture, report, toolLoops, weather } from './stage.ts'

const kinds = [
  'plain',
  'stream',
  'reasoning',
  'tools',
  'structured',
  'image',
  'count',
  'error',
] as const
type Kind = (typeof kinds)[number]

const prompts: Readonly<Record<Kind, string>> = {
  plain: 'tell me [[sim:tokens=15]]',
  stream: 'tell me [[sim:tokens=15]]',
  reasoning: 'think [[sim:tokens=20]] [[sim:reasoning=12]]',
  tools: toolLoops[1],
  structured: 'an object, please',
  image: 'what is this?',
  count: 'how long is this?',
  error: 'x [[sim:status=429]]',
}
/** A style that has no such call. */
const hasNone = (style: Wire, kind: Kind): boolean => style === 'chat' && kind === 'count'

interface Case {
  id: string
  style: Wire
  over: Wire
  kind: Kind
  model: string
  prompt: string
}

/** The id stands in the prompt: requests at the upstream are found by it. */
const casesOf = (name: string, styles: readonly Wire[]): Case[] =>
  styles.flatMap((style) =>
    wires.flatMap((over) =>
      kinds
        .filter((kind) => !hasNone(style, kind))
        .map((kind) => {
          const id = `${name}-${kind}-${style}-over-${over}`
          return { id, style, over, kind, model: `over-${over}`, prompt: `${id} ${prompts[kind]}` }
        }),
    ),
  )

interface Outcome {
  id: string
  text?: string
  reasoning?: string
  again?: string
  usage?: { input: number; output: number }
  cities?: string[]
  object?: unknown
  count?: number
  error?: { class: string; status: number }
  problem?: string
}

let stage: OneWireStage
beforeAll(async () => {
  stage = await startOneWire()
})
afterAll(() => stage.stop())

const seals = /"(?:signature|encrypted_content|thoughtSignature|thought_signature)":\s*"(?!skip_)/g

/** All that the upstream is asked, read whenever there may be more: a sandbox keeps the newest requests only. */
class AskedBodies {
  readonly #bodies: string[] = []
  #number = 0

  async readOn(): Promise<void> {
    for (const { number, body } of await askedOf(stage.sandbox, this.#number)) {
      this.#number = number
      if (body) this.#bodies.push(body)
    }
  }

  /** How many seals each request of a case brings back to the upstream. */
  sealsOf = ({ id }: Case): number[] =>
    this.#bodies.filter((body) => body.includes(id)).map((body) => body.match(seals)?.length ?? 0)
}

const limitMs = 600_000

for (const language of languages) {
  if (!language.isPossible()) {
    console.error(`left out: ${language.name} (${language.how})`)
    continue
  }
  describe(language.name, () => {
    const outcomes = new Map<string, Outcome>()
    const bodies = new AskedBodies()
    const asked = casesOf(language.short, language.styles)

    beforeAll(async () => {
      const file = join(tempDir(), 'cases.json')
      const given = {
        url: stage.gateway.url,
        token: apiToken,
        schema: z.toJSONSchema(report),
        tool: weather,
        picture,
      }
      const program = await language.build(join(root, 'test/sdk/clients'))
      writeFileSync(file, JSON.stringify({ ...given, cases: asked }))
      const child = Bun.spawn([...program, file], { stdout: 'pipe', stderr: 'pipe' })
      const said = new Response(child.stderr).text()
      const decoder = new TextDecoder()
      let printed = ''
      for await (const bytes of child.stdout) {
        printed += decoder.decode(bytes, { stream: true })
        await bodies.readOn()
      }
      expect([await child.exited, await said]).toEqual([0, expect.any(String)])
      await bodies.readOn()
      for (const line of printed.trim().split('\n')) {
        const outcome = JSON.parse(line) as Outcome
        outcomes.set(outcome.id, outcome)
      }
    }, limitMs)

    test.each(asked.map((each) => [each.id, each] as const))('%s', (id, each) => {
      const outcome = outcomes.get(id)
      expect(outcome).toBeDefined()
      expect(outcome!.problem).toBeUndefined()
      judge[each.kind](outcome!, each, bodies.sealsOf(each), language.keepsUnknown)
    })
  })
}

type Judge = (outcome: Outcome, of: Case, seals: readonly number[], keepsUnknown: boolean) => void

const hasText: Judge = ({ text, usage }) => {
  expect(text?.length).toBeGreaterThan(0)
  expect(usage?.output).toBe(15)
  expect(usage?.input).toBeGreaterThan(0)
}

/** What the upstream sealed comes back to it; one of the chat style seals nothing. */
const judge: Readonly<Record<Kind, Judge>> = {
  plain: hasText,
  stream: hasText,
  reasoning({ text, reasoning, again }, { over, style }, told) {
    expect([text, again].every((each) => each !== undefined && each.length > 0)).toBe(true)
    expect(reasoning?.length).toBeGreaterThan(0)
    expect(told).toEqual(over === 'chat' || style === 'chat' ? [0, 0] : [0, 1])
  },
  tools({ cities, text }, { over, style }, told, keepsUnknown) {
    expectLoop(cities ?? [], text)
    // In chat only the seals of calls have a place, in a field that not every SDK knows.
    const isKept = style === 'chat' ? over === 'generate' && keepsUnknown : over !== 'chat'
    expect(told).toEqual(isKept ? [0, 1, 2] : [0, 0, 0])
  },
  structured: ({ object }) => expect(object).toEqual(report.parse(object)),
  image: ({ text }) => expect(text).toContain('I saw 1 image'),
  count: ({ count }) => expect(count).toBeGreaterThan(0),
  error: ({ error }) => expect(error?.status).toBe(429),
}
