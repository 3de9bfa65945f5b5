// The outcome that a case states for a pair of styles: what is lost or refused, in the caller's words.
import type {
  Conversation,
  MediaPart,
  Part,
  StyleName,
} from '../../../src/styles/common/conversation.ts'
import type { Aspect, ConversationCase } from '../conversations/conversation-case.ts'
import { lossName } from './losses.ts'

/** Those of results, too. */
const parts = ({ turns }: Conversation): Part[] =>
  turns
    .flatMap((turn) => turn.parts)
    .flatMap((part): Part[] => (part.type === 'result' ? [part, ...part.parts] : [part]))
const isOf =
  (type: Part['type']) =>
  (given: Conversation): boolean =>
    parts(given).some((part) => part.type === type)

const isFile = ({ text }: MediaPart): boolean => text === undefined

/** Whether a caller said it. */
const says: Readonly<Record<Aspect, (given: Conversation) => boolean>> = {
  system: ({ system }) => system.length > 0,
  turns: (given) =>
    given.turns.some(({ role }) => role === 'system') ||
    given.turns[0]?.role === 'assistant' ||
    given.turns.at(-1)?.role === 'assistant' ||
    parts(given).some((part) => part.type === 'text' && part.text.trim() === '') ||
    parts(given).some((part) => part.type === 'call' && !/^\{.*\}$|^$/s.test(part.input)) ||
    given.turns.some(hasTextAfterCall) ||
    !hasOneResultEach(given),
  tools: ({ tools }) => tools.length > 0,
  toolStrict: ({ tools }) => tools.some(({ strict }) => strict === true),
  toolFreeForm: ({ tools }) => tools.some(({ freeForm }) => freeForm !== undefined),
  toolChoice: ({ toolChoice }) => toolChoice?.mode === 'allowed',
  parallelCalls: ({ parallelCalls }) => parallelCalls === false,
  maxOutputTokens: ({ maxOutputTokens }) => maxOutputTokens !== undefined,
  stop: ({ stop }) => stop.length > 0,
  temperature: ({ sampling }) => sampling.temperature !== undefined,
  topP: ({ sampling }) => sampling.topP !== undefined,
  topK: ({ sampling }) => sampling.topK !== undefined,
  presencePenalty: ({ sampling }) => sampling.presencePenalty !== undefined,
  frequencyPenalty: ({ sampling }) => sampling.frequencyPenalty !== undefined,
  seed: ({ sampling }) => sampling.seed !== undefined,
  format: ({ format }) => format.kind !== 'text',
  effort: ({ effort, reasoningBudget }) => effort !== undefined || reasoningBudget !== undefined,
  choices: ({ choices }) => choices > 1,
  logprobs: ({ logprobs }) => logprobs !== undefined,
  logitBias: ({ logitBias }) => logitBias !== undefined,
  cache: ({ system, tools, ...rest }) =>
    [...system, ...tools, ...parts({ system, tools, ...rest })].some(
      (each) => 'cache' in each && each.cache !== undefined,
    ),
  'cache.ttl': (given) =>
    parts(given).some((part) => 'cache' in part && part.cache?.ttl !== undefined),
  reasoning: isOf('reasoning'),
  refusal: isOf('refusal'),
  image: isOf('image'),
  document: (given) => parts(given).some((part) => part.type === 'document' && isFile(part)),
  'document text': (given) =>
    parts(given).some((part) => part.type === 'document' && !isFile(part)),
  'document.name': (given) =>
    parts(given).some(
      (part) => part.type === 'document' && isFile(part) && part.name !== undefined,
    ),
  audio: isOf('audio'),
  video: isOf('video'),
  result: (given) =>
    parts(given).some(
      (part) => part.type === 'result' && part.parts.some(({ type }) => type !== 'text'),
    ),
  isError: (given) => parts(given).some((part) => part.type === 'result' && part.isError),
}

function hasTextAfterCall({ role, parts: given }: Conversation['turns'][number]): boolean {
  const call = given.findIndex(({ type }) => type === 'call')
  return (
    role === 'assistant' && given.slice(call).some(({ type }) => call !== -1 && type === 'text')
  )
}

function hasOneResultEach(given: Conversation): boolean {
  const all = parts(given)
  const results = all.flatMap((part) => (part.type === 'result' ? [part.callId] : []))
  const calls = all.flatMap((part) => (part.type === 'call' ? [part.id] : []))
  return Bun.deepEquals(results.sort(), calls.sort())
}

export type Outcome = { losses: string[] } | { refused: string }

export function expectedOutcome(
  { changes, refuses, unread }: ConversationCase,
  from: StyleName,
  to: StyleName,
  given: Conversation,
): Outcome {
  const { fieldNames } = given
  const refused = refuses?.[to]
  if (refused !== undefined && says[refused](given)) {
    return { refused: lossName(fieldNames, refused) }
  }
  const changed = (changes?.[to] ?? []).filter((aspect) => says[aspect](given))
  const names = changed.map((aspect) => lossName(fieldNames, aspect))
  return { losses: [...new Set([...names, ...(unread?.[from] ?? [])])].sort() }
}
