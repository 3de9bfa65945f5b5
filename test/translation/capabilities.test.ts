// The conversations of the matrix for upstreams that can do more or less than is usual in their style:
// what they get is the caller's conversation but for the declared losses, and each of these is real.
// Where no change is allowed, a conversation that would lose something is refused.
import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../src/contract/errors.ts'
import {
  type Conversation,
  type StyleName,
  styleNames,
} from '../../src/styles/common/conversation.ts'
import { Losses } from '../../src/styles/common/losses.ts'
import type { TargetSettings } from '../../src/styles/common/style.ts'
import { target } from '../../src/styles/common/test-answers.ts'
import { ToolNames } from '../../src/styles/common/tool-names.ts'
import { styles } from '../../src/styles/index.ts'
import { usualSettings } from '../../src/styles/settings.ts'
import { cases } from './conversations/index.ts'
import { readAs, requestOf } from './matrix/callers.ts'
import { compare } from './matrix/losses.ts'
import { said } from './matrix/said.ts'

const variants: readonly Partial<TargetSettings>[] = [
  {},
  { instructions: 'anywhere' },
  { documents: true },
  { documents: false },
  { mediaUrls: false },
  { cacheControl: true },
  { cacheControl: true, autoCache: true },
  { maxTokensField: 'max_completion_tokens' },
  { replayReasoning: true },
  { outputSchema: false },
  { freeFormTools: true },
  { freeFormTools: false },
  { mediaInResults: false },
  { reasoning: 'budget' },
  { reasoning: 'none' },
]

interface Given {
  name: string
  read: Conversation
  losses: readonly string[]
}

/** What callers of each style say; long histories say nothing else than short ones. */
const given = (from: StyleName): Given[] =>
  cases
    .filter(({ conversation }) => (conversation.turns?.length ?? 0) < 20)
    .map((each) => {
      const { body } = requestOf(each, { from, model: 'm', stream: false, mark: '#a' })
      return { name: each.name, ...readAs(from, JSON.stringify(body)) }
    })

interface Written {
  body: unknown
  names: ToolNames
  losses: string[]
}

function write(
  to: StyleName,
  read: Conversation,
  settings: Partial<TargetSettings>,
  strict = false,
): Written | Refusal {
  const losses = new Losses()
  const names = new ToolNames(read.tools, styles[to].toolName)
  const upstream = target({ ...usualSettings[to], ...settings }, { strict, maxOutputTokens: 8_192 })
  const body = styles[to].writeRequest(read, upstream, names, losses)
  return body instanceof Refusal ? body : { body, names, losses: losses.names }
}

const pairs = styleNames.flatMap((from) =>
  styleNames.flatMap((to) => (from === to ? [] : [[from, to] as const])),
)

describe.each(pairs)('%s over %s', (from, to) => {
  const all = given(from)

  test.each(variants.map((each) => [JSON.stringify(each), each] as const))('with %s', (_, each) => {
    for (const { name, read, losses: unread } of all) {
      const written = write(to, read, each)
      if (written instanceof Refusal) {
        expect(Object.values({ ...read.fieldNames })).toContain(written.extras.param!)
        continue
      }
      const { body, names, losses } = written
      const asked = readAs(to, JSON.stringify(body))
      expect({ name, losses: asked.losses }).toEqual({ name, losses: [] })
      const own = said(read)
      // An upstream that does not reason needs not be told.
      if (each.reasoning === 'none' && own.effort === 'none') delete own.effort
      const known = unread.filter((loss) => !/unknown/i.test(loss))
      const declared = [...new Set([...known, ...losses])]
      const compared = compare(read, own, said(asked.read, names), declared)
      if (each.autoCache) Object.assign(compared.asked, { marks: compared.given.marks })
      // Seals that no one here made are lost before anything is written.
      const untrue = compared.untrue.filter((loss) => !known.includes(loss))
      expect({ name, asked: compared.asked, untrue }).toEqual({
        name,
        asked: compared.given,
        untrue: [],
      })
    }
  })

  test('is refused where something would be lost and nothing may be', () => {
    for (const { name, read } of all) {
      const [free, strict] = [write(to, read, {}), write(to, read, {}, true)]
      const [lost] = free instanceof Refusal ? [free.extras.param] : free.losses
      const param = strict instanceof Refusal ? strict.extras.param : undefined
      expect({ name, param }).toEqual({ name, param: lost })
    }
  })
})
