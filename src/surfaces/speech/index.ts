// Speech: a text in, sound out, as the bytes of a file or as events.
import { keysIn } from '../text/request-fields.ts'
import { textSurface } from '../text/serve.ts'
import { parseSpeech } from './parse.ts'
import { speechFields } from './request-fields.ts'

export const speech = textSurface(
  {
    name: 'speech',
    path: '/v1/audio/speech',
    models: { kind: 'speech', clientWords: ['openai-tts'] },
    keys: keysIn(speechFields),
    parse: parseSpeech,
    errorEvent: (errorBody) => `event: error\ndata: ${errorBody}\n\n`,
  },
  async () => (await import('./operations.ts')).speechOperations,
)
