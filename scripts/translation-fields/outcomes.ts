// What becomes of each field of each style for upstreams of the others: the translation itself is
// asked, with one request per field.
import { Refusal } from '../../src/contract/errors.ts'
import { requestFields as chatFields } from '../../src/styles/chat/fields.ts'
import { type Json, type StyleName, styleNames } from '../../src/styles/common/conversation.ts'
import { createEnvelopes } from '../../src/styles/common/envelope.ts'
import { Growth } from '../../src/styles/common/growth.ts'
import { Losses } from '../../src/styles/common/losses.ts'
import { ToolNames } from '../../src/styles/common/tool-names.ts'
import {
  knownConfig as generateConfig,
  knownFields as generateFields,
} from '../../src/styles/generate/read-request.ts'
import { styles } from '../../src/styles/index.ts'
import { requestFields as messagesFields } from '../../src/styles/messages/fields.ts'
import { knownFields as responsesFields } from '../../src/styles/responses/read-request.ts'
import { usualSettings } from '../../src/styles/settings.ts'
import { extraProblem, rulesWithout } from '../../src/surfaces/text/extra-fields.ts'
import * as chat from './chat.ts'
import * as generate from './generate.ts'
import * as messages from './messages.ts'
import * as responses from './responses.ts'
import type { Probes, Sample } from './samples.ts'

export const probes: Readonly<Record<StyleName, { base: Sample; probes: Probes }>> = {
  chat,
  responses,
  messages,
  generate,
}

/** Fields that each style's reader knows; those of `generationConfig` with its name. */
export const knownFields: Readonly<Record<StyleName, readonly string[]>> = {
  chat: [...chatFields],
  responses: [...responsesFields],
  messages: [...messagesFields],
  generate: [...generateFields, ...[...generateConfig].map((name) => `generationConfig.${name}`)],
}

/**
 * `carried`: the upstream gets it. `changed`: it gets something else. `left out`: it does not get it. `no effect`: there is
 * nothing to carry, or nothing that changes an answer.
 */
export interface Outcome {
  kind: 'carried' | 'changed' | 'left out' | 'no effect' | 'refused'
  /** Names in the list of losses, or the field that the refusal names. */
  names: readonly string[]
  /** The whole list of losses, with those that other fields of the same request have. */
  losses: readonly string[]
}

const envelopes = createEnvelopes(new Uint8Array(32))
const maxOutputTokens = 8_192

interface Translated {
  body: string
  losses: string[]
}

/** The conversation, and what the styles themselves read. */
const rules = rulesWithout([
  ...['messages', 'system', 'input', 'instructions', 'contents', 'systemInstruction'],
  ...['generationConfig', 'toolConfig', 'prediction', 'previous_response_id', 'background'],
])

function translate(from: StyleName, to: StyleName, fields: Json): Translated | Refusal {
  const extra = extraProblem(fields, rules)
  if (extra !== undefined) return extra
  const losses = new Losses()
  const read = styles[from].readRequest({ fields, body: JSON.stringify(fields), envelopes }, losses)
  if (read instanceof Refusal) return read
  const settings = usualSettings[to]
  const target = {
    model: 'm',
    stream: false,
    maxOutputTokens,
    strict: false,
    envelopes,
    realm: 'r',
    settings,
    growth: new Growth(Number.POSITIVE_INFINITY),
  }
  const names = new ToolNames(read.tools, styles[to].toolName)
  const body = styles[to].writeRequest(read, target, names, losses)
  return body instanceof Refusal ? body : { body: JSON.stringify(body), losses: losses.names }
}

/** The request of a probe, and the same without its field. */
export function probeRequests(from: StyleName, field: string): { probe: Json; plain: Json } {
  const { base, probes: all } = probes[from]
  const { fields, beside } = all[field]!
  const plain = { ...base, ...beside }
  return { probe: { ...plain, ...fields }, plain }
}

export function outcomeOf(from: StyleName, to: StyleName, field: string): Outcome {
  const { probe, plain } = probeRequests(from, field)
  const [made, before] = [translate(from, to, probe), translate(from, to, plain)]
  if (made instanceof Refusal) {
    return { kind: 'refused', names: [made.extras.param ?? field], losses: [] }
  }
  if (before instanceof Refusal) {
    throw new Error(`${from} over ${to}: ${field} needs '${before.message}'`)
  }
  const { losses } = made
  const names = losses.filter((name) => !before.losses.includes(name))
  const isSame = made.body === before.body
  if (names.length === 0) return { kind: isSame ? 'no effect' : 'carried', names, losses }
  return { kind: isSame ? 'left out' : 'changed', names, losses }
}

export const othersOf = (from: StyleName): StyleName[] => styleNames.filter((to) => to !== from)
