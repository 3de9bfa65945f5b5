// The generate protocol as an upstream speaks it: answers, streams as events or as a list, counts and
// embeddings. The model is named in the path.
import { isFault } from '../http/fields.ts'
import { type Answer, type Call, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { answerText, type Draft, failureOf, type TextStyle } from '../text/answer-text.ts'
import { PromptCache } from '../text/prompt.ts'
import { createSeals, type Seals } from '../text/seals.ts'
import { layOutPrompt } from '../text/turns.ts'
import { sealFault } from './check-seals.ts'
import { embedBatch, embedOne } from './embed.ts'
import { generateError } from './errors.ts'
import { modelList } from './model-list.ts'
import { readCountable, readGenerateRequest } from './request.ts'
import { strictFault } from './strict.ts'
import { listEvents, streamEvents, wholeAnswer } from './wire.ts'

const styleWith = (seals: Seals): TextStyle => ({
  read: (fields) => sealFault(fields, seals) ?? readGenerateRequest(fields),
  whole: (draft) => wholeAnswer(draft, seals),
  events: (draft) => streamEvents(draft, seals),
  keepAlive: ': keep-alive\r\n\r\n',
  strictFault,
  stateFields: ['cachedContent', 'cached_content'],
})

const pathOf = (method: string): RegExp => new RegExp(`^/v1beta/models/(?<model>[^/:]+):${method}$`)

export const generate: ProtocolMaker = ({ maker }) => {
  const cache = new PromptCache()
  const seals = createSeals(maker, 'generate')
  const style = styleWith(seals)
  // White space between the entries of a list.
  const list = { ...style, events: (draft: Draft) => listEvents(draft, seals), keepAlive: '\n' }
  return {
    protocol: 'generate',
    basePath: '',
    delaySlows: 'answer',
    keepsRequests: true,
    idHeaders: ['x-request-id'],
    readKey: (headers) => headers.get('x-goog-api-key') ?? '',
    readUser: () => undefined,
    errorBody: generateError,
    errorEvent: (fault) => `data: ${JSON.stringify(generateError(fault))}\n\n`,
    routes: [
      {
        method: 'POST',
        path: pathOf('generateContent'),
        answer: (call) => answerText(withModel(call, false), cache, style),
      },
      {
        method: 'POST',
        path: pathOf('streamGenerateContent'),
        answer: (call) => answerStream(withModel(call, true), cache, style, list),
      },
      { method: 'POST', path: pathOf('countTokens'), answer: countInput },
      { method: 'POST', path: pathOf('embedContent'), answer: embedOne },
      { method: 'POST', path: pathOf('batchEmbedContents'), answer: embedBatch },
      { method: 'GET', path: /^\/v1beta\/models$/, answer: () => jsonAnswer(modelList) },
    ],
  }
}

/** What the other styles have in the body. */
const withModel = (call: Call, stream: boolean): Call => ({
  ...call,
  fields: { ...call.fields, model: decodeURIComponent(call.params['model'] ?? ''), stream },
})

function answerStream(call: Call, cache: PromptCache, style: TextStyle, list: TextStyle): Answer {
  if (call.search.get('alt') === 'sse') return answerText(call, cache, style)
  const answer = answerText(call, cache, list)
  return answer.kind === 'stream' ? { ...answer, contentType: 'application/json' } : answer
}

/** Counts only: nothing is cached, and the call log books no tokens. */
function countInput({ fields, directives }: Call): Answer {
  const request = readCountable(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  return jsonAnswer({ totalTokens: layOutPrompt(request.tools, request.turns).tokens })
}
