// A generate call as JSON and as a stream of partial answers. The path names the model; every event
// has a model name and token counts, as those of the style's own maker.

import {
  deltaCount,
  inputTokens,
  outputTokens,
  type Payload,
  prompt,
  reply,
  wordStart,
  words,
} from './shape.ts'

const contents = [{ role: 'user', parts: [{ text: prompt }] }]
/** At the end of every event, so that it is also the end of a stream. */
const responseId = 'bench-response'

export const generate: Payload = {
  pathOf(mode, model) {
    const method = mode === 'json' ? 'generateContent' : 'streamGenerateContent?alt=sse'
    return `/vendorg/v1beta/models/${model}:${method}`
  },
  model: 'txta-plus',
  headers: {},
  requestBody: () => JSON.stringify({ contents, generationConfig: { maxOutputTokens: 1024 } }),
  jsonAnswer: (model) => JSON.stringify(answer(model, reply, outputTokens.json, 'STOP')),
  usageMark: '"candidatesTokenCount"',
  stream: {
    events: (model) =>
      words.map((word, i) => {
        const reason = i + 1 === deltaCount ? 'STOP' : undefined
        return `data: ${JSON.stringify(answer(model, word, i + 1, reason))}\r\n\r\n`
      }),
    deltaMark: `"text":"${wordStart}`,
    endMark: `"${responseId}"}`,
    translatedEndMark: '"}\n\n',
  },
}

const answer = (model: string, text: string, outputCount: number, finishReason?: string) => ({
  candidates: [
    {
      content: { parts: [{ text }], role: 'model' },
      ...(finishReason !== undefined && { finishReason }),
      index: 0,
    },
  ],
  usageMetadata: {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputCount,
    totalTokenCount: inputTokens + outputCount,
  },
  modelVersion: model,
  responseId,
})
