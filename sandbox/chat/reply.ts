// What the answer to a chat request is, before it has a wire shape. The request decides all of it.
import { writeJsonProse, writeProse } from '../prose.ts'
import { countTokens } from '../tokens.ts'
import type { ChatRequest } from './request.ts'

export interface Choice {
  /** The text, token by token; of a function call none. */
  tokens: readonly string[]
  toolCall?: { id: string; name: string; arguments: string }
  finishReason: 'stop' | 'length' | 'tool_calls'
}

export interface Reply {
  id: string
  created: number
  model: string
  choices: readonly Choice[]
  outputTokens: number
}

const earliest = 1_760_000_000

export function planReply(request: ChatRequest, exactTokens: number | undefined): Reply {
  const hash = new Bun.CryptoHasher('sha256').update(request.seedText).digest('hex')
  const seed = Number.parseInt(hash.slice(0, 8), 16)
  const choices = Array.from({ length: request.choices }, (_, index) =>
    request.callFunction === undefined
      ? textChoice(request, exactTokens, seed + index)
      : toolChoice(request.callFunction, `call_${hash.slice(24, 44)}${index}`),
  )
  return {
    id: `chatcmpl-${hash.slice(0, 24)}`,
    created: earliest + (seed % 1_000_000),
    model: request.model,
    choices,
    outputTokens: choices.reduce((sum, choice) => sum + tokensOf(choice), 0),
  }
}

/** The caller's own limit also holds for an answer of a told length. */
function textChoice(request: ChatRequest, exactTokens: number | undefined, seed: number): Choice {
  const tokens = (request.json ? writeJsonProse : writeProse)(seed, exactTokens)
  const limit = request.maxTokens ?? tokens.length
  if (tokens.length <= limit) return { tokens, finishReason: 'stop' }
  return { tokens: tokens.slice(0, limit), finishReason: 'length' }
}

const toolChoice = (name: string, id: string): Choice => ({
  tokens: [],
  toolCall: { id, name, arguments: '{}' },
  finishReason: 'tool_calls',
})

export function tokensOf({ tokens, toolCall }: Choice): number {
  if (toolCall === undefined) return tokens.length
  return countTokens(toolCall.name) + countTokens(toolCall.arguments)
}
